/* tools/esra/solve.c - esra solve: the paper's problem, from arrays to arrays. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "memory.h"
#include "progress.h"
#include "signals.h"
#include "solve.h"

#define NAME "solve"

static const struct option options[] = {
    {"mixtures", 0, OPTION_FILE, "FILE", offsetof(struct solve_options, mixtures), true,
     "the photos I, aligned: an array (m,h,w) or (m,h,w,c) of float32 or float64"},
    {"gradients", 0, OPTION_FILE, "FILE", offsetof(struct solve_options, gradients), true,
     "the layers' gradients E: (m+1,2,h,w[,c]); [:,0] is L[y+1]-L[y] (last row ignored), [:,1] is L[x+1]-L[x] (last "
     "column ignored); layer 0 is the transmitted one"},
    {"mixing", 0, OPTION_TEXT, "a_1,...,a_m", offsetof(struct solve_options, mixing), true,
     "how strongly each photo sees the transmitted layer"},
    {"weights", 0, OPTION_FILE, "FILE", offsetof(struct solve_options, weights), false,
     "how far each pixel counts, in [0,1]: (m,h,w); 0 where a photo does not see the scene"},
    {"output", 'o', OPTION_FILE, "FILE", offsetof(struct solve_options, output), true,
     "where the layers go: (m+1,h,w[,c]) of float32; '-' is standard output"},
    {"duals", 0, OPTION_FILE, "FILE", offsetof(struct solve_options, duals), false,
     "also write the field u, laid out as the gradients, that proves the bound"},
    {"json", 0, OPTION_FLAG, NULL, offsetof(struct solve_options, json), false,
     "print the result as one JSON object on standard output"},
    {"progress", 0, OPTION_TEXT, "auto|json|none", offsetof(struct solve_options, progress), false,
     "how to tell progress on standard error: auto is a bar on a terminal, json a line for each step"},
    {"quiet", 'q', OPTION_FLAG, NULL, offsetof(struct solve_options, quiet), false,
     "say nothing but errors on standard error"},
    MEMORY_OPTION(offsetof(struct solve_options, max_memory)),
    {"keep-partial", 0, OPTION_FLAG, NULL, offsetof(struct solve_options, keep_partial), false,
     "when interrupted, write the best layers found so far"},
};

static enum exit_code fail(const struct solve_job *job, esra_status status)
{
    return complain(exit_code_of(status), NAME, "%s", job->message.text);
}

static esra_status run_solver(struct solve_job *job, struct progress *progress)
{
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    esra_solver *solver;
    problem.photos = job->photos;
    problem.mixing = job->mixing;
    problem.mixtures = job->mixture_views;
    problem.gradients = job->gradient_views;
    problem.weights = job->options.weights ? job->weight_views : NULL;
    result.layers = job->layer_views;
    result.duals = job->duals ? job->dual_views : NULL;
    job->info = (esra_info)ESRA_INFO_INIT;
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK) {
        esra_solver_set_progress(solver, progress_tell, progress);
        status = esra_solver_run(solver, &problem, &job->settings, &result, &job->info);
    }
    snprintf(job->message.text, sizeof job->message.text, "%s", esra_solver_message(solver));
    esra_solver_free(&solver);
    return status;
}

static esra_status open_outputs(struct solve_job *job)
{
    const char *const names[] = {job->options.output, job->options.duals};
    esra_status status = ESRA_OK;
    for (int n = 0; n < 2 && names[n]; n++) {
        TRY(esra_output_open(&job->outputs[n], names[n], &job->message));
        job->outputs[n].enough = job->options.keep_partial ? NULL : signals_seen;
    }
done:
    return status;
}

static esra_status write_outputs(struct solve_job *job)
{
    esra_status status;
    signals_begin();
    TRY(esra_npy_write(&job->outputs[0], job->layers, job->dimensions, job->layer_shape, &job->message));
    if (job->duals)
        TRY(esra_npy_write(&job->outputs[1], job->duals, job->dimensions + 1, job->dual_shape, &job->message));
    TRY(esra_output_commit_all(job->outputs, job->duals ? 2 : 1, &job->placed, &job->message));
done:
    return status;
}

static enum exit_code print_json(const struct solve_job *job, enum exit_code code)
{
    const esra_info *info = &job->info;
    char engine[32];
    setting_choice("engine", job->settings.engine, engine, sizeof engine);
    json_t *object =
        json_pack("{s:s, s:s, s:f, s:f, s:f, s:i, s:I, s:s, s:i, s:f}", "schema", "esra-solve-1", "status",
                  esra_outcome_name(info->outcome), "objective", info->objective, "bound", info->bound, "gap",
                  info->gap, "iterations", info->iterations, "inner_iterations", (json_int_t)info->inner_iterations,
                  "engine", engine, "threads", info->threads, "seconds", info->seconds);
    return print_object(object, JSON_INDENT(2), NAME, code);
}

static void print_summary(const struct solve_job *job)
{
    const esra_info *info = &job->info;
    fprintf(stderr,
            "%s: objective %.6g, proven to be above the optimum by no more than %.2g of it; %d iterations, %.2f s\n",
            esra_outcome_name(info->outcome), info->objective, info->gap, info->iterations, info->seconds);
    if (info->outcome == ESRA_INACCURATE && job->settings.gap > 0)
        fprintf(stderr, "the gap asked for, %g, was not reached: allow more --max-iterations%s\n", job->settings.gap,
                job->settings.engine == ESRA_ENGINE_PAPER ? ", and a smaller --inner-tolerance" : "");
}

static enum exit_code finish(struct solve_job *job)
{
    enum exit_code code = signals_exit();
    bool interrupted = code != EXIT_DONE;
    esra_status status = write_outputs(job);
    if (status != ESRA_OK && signals_seen() && !job->options.keep_partial)
        return signals_complain(NAME, job->placed, job->message.text);
    if (status != ESRA_OK)
        return fail(job, status);
    if (!job->options.quiet)
        print_summary(job);
    if (!interrupted && job->info.outcome != ESRA_OPTIMAL && job->settings.gap > 0)
        code = EXIT_GAP;
    return job->options.json ? print_json(job, code) : code;
}

/* Two outputs under one name would leave one of them. */
static enum exit_code check_names(struct solve_job *job)
{
    const struct solve_options *o = &job->options;
    bool same = false;
    esra_status status = o->duals ? esra_output_same(o->output, o->duals, &same, &job->message) : ESRA_OK;
    if (status != ESRA_OK)
        return fail(job, status);
    return same ? complain(EXIT_USAGE, NAME, "--output and --duals name one file; give them two") : EXIT_DONE;
}

static esra_status spare_inputs(struct solve_job *job)
{
    const struct solve_options *o = &job->options;
    const char *const inputs[] = {o->mixtures, o->gradients, o->weights};
    esra_status status;
    TRY(esra_output_spare(o->output, inputs, 3, &job->message));
    if (o->duals)
        TRY(esra_output_spare(o->duals, inputs, 3, &job->message));
done:
    return status;
}

static enum exit_code check_streams(const struct solve_options *o)
{
    const char *inputs[] = {o->mixtures, o->gradients, o->weights};
    int from_stdin = 0, to_stdout = o->json;
    for (size_t n = 0; n < sizeof inputs / sizeof inputs[0]; n++)
        from_stdin += inputs[n] && strcmp(inputs[n], "-") == 0;
    bool binary = strcmp(o->output, "-") == 0 || (o->duals && strcmp(o->duals, "-") == 0);
    to_stdout += strcmp(o->output, "-") == 0;
    to_stdout += o->duals && strcmp(o->duals, "-") == 0;
    if (from_stdin > 1)
        return complain(EXIT_USAGE, NAME, "only one input can come from standard input");
    if (to_stdout > 1)
        return complain(EXIT_USAGE, NAME, "only one of --output, --duals and --json can go to standard output");
    if (binary && isatty(STDOUT_FILENO))
        return complain(EXIT_USAGE, NAME, "standard output is a terminal; send the array to a file or a pipe");
    return EXIT_DONE;
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct solve_job *job = all;
    struct progress progress;
    esra_status status;
    (void)parsed;
    job->outputs[0].fd = job->outputs[1].fd = -1;
    enum exit_code code = check_streams(&job->options);
    if (code == EXIT_DONE)
        code = check_names(job);
    if (code == EXIT_DONE)
        code = memory_take(job->options.max_memory, NAME, &job->most_bytes);
    if (code != EXIT_DONE)
        return code;
    if (!progress_begin(&progress, job->options.progress, job->options.quiet, &job->settings))
        return complain(EXIT_USAGE, NAME, "--progress takes one of auto|json|none, not '%s'", job->options.progress);
    TRY(spare_inputs(job));
    TRY(solve_read_arrays(job));
    TRY(solve_make_views(job));
    signals_begin();
    TRY(open_outputs(job));
    if (!job->options.keep_partial)
        signals_end_at_once(job->outputs, 2, NULL);
    status = run_solver(job, &progress);
    progress_end(&progress);
    if (status == ESRA_OK)
        return finish(job);
    signals_begin();
done:
    return signals_seen() ? signals_complain(NAME, 0, "") : fail(job, status);
}

static void job_free(void *all, enum exit_code code)
{
    struct solve_job *job = all;
    (void)code;
    esra_output_discard(&job->outputs[0]);
    esra_output_discard(&job->outputs[1]);
    esra_npy_free(&job->mixtures);
    esra_npy_free(&job->gradients);
    esra_npy_free(&job->weights);
    free(job->mixing);
    free(job->mixture_views);
    free(job->gradient_views);
    free(job->weight_views);
    free(job->layer_views);
    free(job->dual_views);
    free(job->layers);
    free(job->duals);
}

static void init_settings(void *values)
{
    esra_settings_default(values);
}

static const struct option_table settings_table = {.rows = esra_settings_table,
                                                   .init = init_settings,
                                                   .offset = offsetof(struct solve_job, settings),
                                                   .heading = SETTINGS_HEADING};

const struct command solve_command = {
    .name = NAME,
    .summary = "recover the layers of aligned photos from given gradients, with a certificate",
    .operands = "",
    .description =
        "Minimises F(L) = 1/2 sum_i w_i |I_i - a_i L_0 - L_i|^2 + lambda sum_l |D L_l - E_l|_1 over layers with values "
        "in "
        "[0,1]: L_0 is the scene behind the glass, L_i what photo i reflects. Prints F and a proven lower bound of the "
        "least F, so that the gap tells how much better any other answer could be.\n\n"
        "Arrays are NumPy .npy files, in C or Fortran order and either byte order. '-' stands for standard input or "
        "output. Outputs appear whole or not at all; a file that was there before survives any failure.",
    .example = "esra solve --mixtures I.npy --gradients E.npy --mixing 0.8,0.85,0.9 --lambda 0.02 -o L.npy --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .tables = &settings_table,
    .table_count = 1,
    .job_size = sizeof(struct solve_job),
    .work = work,
    .free = job_free,
};

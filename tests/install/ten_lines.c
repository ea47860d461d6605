#include <stdio.h>

#include <esra/esra.h>

int main(void)
{
    esra_solver *solver;
    esra_status status = esra_solver_create(&solver);
    printf("libesra %s: %s\n", esra_version(), esra_status_name(status));
    esra_solver_free(&solver);
    return status != ESRA_OK;
}

"""The recipe for Kubernetes without one: examples/fleet/kubernetes.yaml is read, what its parts promise each other is
compared, and its command runs once for each index, as a pod would run it: JOB_COMPLETION_INDEX set, and where this system
lets us the process number 1 of a machine named after the job and the index, which a pod has again when it is started again.
Two pods are killed and started anew; nothing is lost, nothing is done twice. ESRA names the program."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

try:
    import yaml
except ImportError:
    print("skipped: there is no python3-yaml")
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from batches import ESRA, TinyBatch  # noqa: E402

SCENES = 20
# Those of tools/esra/exit.h that mean the same the next time.
LASTING = {64, 65, 66, 73}


def check_recipe(job):
    """What the API asks of an indexed Job with a policy for failures, and what the parts say of each other."""
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (job["apiVersion"], job["kind"], spec["completionMode"]) == ("batch/v1", "Job", "Indexed")
    assert pod["restartPolicy"] == "Never", "a podFailurePolicy needs it"
    assert 1 <= spec["parallelism"] <= spec["completions"]
    container, = pod["containers"]
    assert f"/{spec['completions']}" in container["command"][-1], "N of the shares is the number of completions"
    assert {mount["name"] for mount in container["volumeMounts"]} <= {volume["name"] for volume in pod["volumes"]}
    assert container["workingDir"] in [mount["mountPath"] for mount in container["volumeMounts"]]
    codes = [rule["onExitCodes"]["values"] for rule in spec["podFailurePolicy"]["rules"] if "onExitCodes" in rule]
    assert codes == [sorted(LASTING)], "in order and each once, as the API wants them"
    return spec["completions"], container["command"]


def in_pods():
    """Whether processes can have names and numbers of their own here."""
    return subprocess.run(["unshare", "--uts", "--pid", "--fork", "--kill-child", "true"], capture_output=True).returncode == 0


class Pods:
    def __init__(self, batch, name, command):
        self.batch, self.name, self.command = batch, name, command
        self.apart = in_pods()

    def start(self, index):
        path = f"{pathlib.Path(ESRA).resolve().parent}:{os.environ['PATH']}"
        words = self.command
        if self.apart:
            words = ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                     'hostname "$0" && exec "$@"', f"{self.name}-{index}", *self.command]
        return subprocess.Popen(words, cwd=self.batch.folder, stderr=subprocess.DEVNULL,
                                env={**os.environ, "PATH": path, "JOB_COMPLETION_INDEX": str(index)})


def main():
    job = yaml.safe_load((SOURCE / "examples" / "fleet" / "kubernetes.yaml").read_text())
    completions, command = check_recipe(job)
    with tempfile.TemporaryDirectory() as folder:
        batch = TinyBatch(folder, SCENES)
        pods = Pods(batch, job["metadata"]["name"], command)
        running = [pods.start(index) for index in range(completions)]
        while len(batch.done()) < SCENES // 4:
            time.sleep(.01)
        for index in (0, 3):
            running[index].send_signal(signal.SIGKILL)
            running[index].wait()
            running[index] = pods.start(index)
        codes = [process.wait() for process in running]
        assert codes == [0] * completions, codes
        assert batch.check() == SCENES
        code, told = batch.status()
        assert (code, told["done"]) == (0, SCENES), told
        where = "machines and processes of their own" if pods.apart else "plain processes"
        print(f"{completions} pods as {where}, two killed: {SCENES} scenes, {told['journals']} journals, nothing done twice")


if __name__ == "__main__":
    main()

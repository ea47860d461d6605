"""Makes the wheel: what pip calls for 'pip install .' (PEP 517), and 'make python'.

usage: backend.py PACKAGES FOLDER [PLATFORM]     a wheel of PACKAGES/esra, as the build has it, into FOLDER

A wheel is a zip archive with three files about itself; the standard library can write it, so nothing needs to be fetched
to build one. The same files give the same bytes."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a build of the package alone reads.
SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "bindings", "cmake", "doc/python.md", "include", "src")

CORE_ALONE = ("-DCMAKE_BUILD_TYPE=Release", "-DESRA_TOOLS=OFF", "-DESRA_TESTS=OFF", "-DESRA_EXAMPLES=OFF", "-DESRA_BENCH=OFF",
              "-DESRA_INSTALL=OFF", "-DESRA_WERROR=OFF")


def version():
    text = (ROOT / "include" / "esra" / "version.h").read_text()
    return ".".join(re.findall(r"#define ESRA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def tag(platform):
    """One build for every CPython from 3.11 on, of this system and processor unless another platform is named."""
    return "cp311-abi3-" + re.sub("[-.]", "_", platform or sysconfig.get_platform())


def metadata():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}", f"Summary: {project['description']}",
        f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {name}" for name in project["dependencies"]), "Description-Content-Type: text/markdown", ""
    ]
    return "\n".join(lines) + "\n" + (ROOT / project["readme"]).read_text()


def contents(package, platform):
    """Name and bytes of everything in the wheel but the list of it."""
    about = f"esra-{version()}.dist-info"
    files = {f"esra/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{about}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{about}/METADATA"] = metadata().encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: esra\nRoot-Is-Purelib: false\nTag: {tag(platform)}\n".encode()
    return files


def record(files, own_name):
    """The list: each file with its digest and size."""
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(rows) + f"{own_name},,\n"


def write_wheel(package, folder, platform=None):
    files = contents(pathlib.Path(package), platform)
    own_name = f"esra-{version()}.dist-info/RECORD"
    files[own_name] = record(files, own_name).encode()
    name = f"esra-{version()}-{tag(platform)}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980, always
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def compile_package(build):
    """build/python/esra, with the core of the library inside."""
    subprocess.run(["cmake", "-S", ROOT, "-B", build, *CORE_ALONE, f"-DESRA_PYTHON={sys.executable}"], check=True,
                   stdout=sys.stderr)
    done = subprocess.run(["cmake", "--build", build, "--target", "esra_python", "-j", str(os.cpu_count() or 1)],
                          stdout=sys.stderr)
    if done.returncode != 0:
        sys.exit("esra: the module was not built; it needs a C compiler and Python's headers (on Debian: gcc, python3-dev)")
    return pathlib.Path(build) / "python" / "esra"


# ---- What pip calls ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as build:
        return write_wheel(compile_package(build), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    stem = f"esra-{version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{stem}.tar.gz", "w:gz") as archive:
        for name in SOURCES:
            archive.add(ROOT / name, f"{stem}/{name}", filter=lambda entry: None if "__pycache__" in entry.name else entry)
        with tempfile.TemporaryDirectory() as folder:
            about = pathlib.Path(folder) / "PKG-INFO"
            about.write_text(metadata())
            archive.add(about, f"{stem}/PKG-INFO")
    return f"{stem}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    if not (pathlib.Path(sys.argv[1]) / "esra" / "_esra.abi3.so").exists():
        sys.exit(f"backend.py: there is no module in {sys.argv[1]}: were Python's headers (python3-dev) there when it was built?")
    print(pathlib.Path(sys.argv[2]) / write_wheel(pathlib.Path(sys.argv[1]) / "esra", *sys.argv[2:]))

#!/usr/bin/env python3
"""What the documents name exists: files, functions, targets, options, thresholds, evidence, warnings and links.
usage: docs.py SOURCE_FOLDER"""
import glob
import os
import re
import sys

ROOT = sys.argv[1]
ROOMS = sorted(name for name in os.listdir(os.path.join(ROOT, "src")) if os.path.isdir(os.path.join(ROOT, "src", name)))
# A path is written from the root, from src/ or, as a page's reader knows the room, from one of these.
FOLDERS = ["", "src", "include/esra", "tools", "tools/esra", "src/pipeline", "doc", "tests", "bindings", "bindings/python", "bindings/wasm"]
CODE = ["src", "include", "tools", "tests", "bench", "examples", "bindings", "web", "scripts", "packaging", "cmake"]
EXTENSIONS = r"(?:c|h|def|py|sh|md|js|mjs|txt|cmake|json)"


def documents():
    names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "doc/*.md", "doc/notes/*.md", "examples/*/README.md"]
    return sorted(path for name in names for path in glob.glob(os.path.join(ROOT, name)))


def read(path):
    """A file; of C without its comments."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S) if re.search(r"\.(c|h|def)$", path) else text


def source_text():
    files = (os.path.join(folder, name) for top in CODE for folder, _, names in os.walk(os.path.join(ROOT, top))
             if "node_modules" not in folder for name in names)
    return "\n".join(map(read, filter(re.compile(r"\.(c|h|def|py|mjs|js|sh|txt|in)$").search, files)))


def is_file(name):
    return any(glob.glob(os.path.join(ROOT, folder, name)) for folder in FOLDERS)


def files_in(text):
    """Paths of sources with a folder that is one of ours."""
    tops = "|".join(ROOMS + CODE + ["doc"])
    return re.findall(rf"(?<![\w./-])((?:{tops})/[\w./*-]*\w\.{EXTENSIONS})\b", text)


def thresholds():
    """{room: names}"""
    return {os.path.basename(os.path.dirname(path)): set(re.findall(r"^THRESHOLD\((\w+)", read(path), re.M))
            for path in glob.glob(os.path.join(ROOT, "src", "*", "thresholds.def"))}


def missing_from(path, words, options, rows):
    text = read(path)
    for name in files_in(text):
        if not is_file(name):
            yield f"no file {name}"
    for name in re.findall(r"(?<![\w-])--([a-z][a-z-]+)(?![\w-])", text):
        if "notes" not in path and name not in options and name.replace("-", "_") not in words:
            yield f"no option --{name}"
    for name in re.findall(r"\besra_\w+", text):
        if name not in words and not any(word.startswith(name) for word in words if name.endswith("_")):
            yield f"no name {name}"
    for room, name in re.findall(rf"\b({'|'.join(rows)})\.([a-z]\w+_\w+)\b", text):
        if name not in rows[room] and name not in words:
            yield f"no threshold {room}.{name}"
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            yield f"no page {link}"
    for span in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"[a-z_/*0-9-]+\.(?:c|h|def)", span) and not is_file(span) and not is_file(os.path.join("*", "*", span)):
            yield f"no file {span}"
        elif re.fullmatch(r"[a-z]{2,}(?:_[a-z0-9]+)+(?:\(\))?", span) and span.rstrip("()") not in words:
            yield f"no name {span}"


def main():
    source, rows = source_text(), thresholds()
    words, count = set(re.findall(r"[A-Za-z_]\w*", source)), 0
    options = set(re.findall(r"(?:--|[\"'])([a-z][a-z-]+)(?![\w-])", source))
    for path in documents():
        for complaint in dict.fromkeys(missing_from(path, words, options, rows)):
            print(f"{os.path.relpath(path, ROOT)}: {complaint}")
            count += 1
    print(f"{len(documents())} documents, {count} names that are nowhere")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()

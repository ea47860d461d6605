#!/usr/bin/env python3
"""Serves a folder on localhost with the headers that its file _headers has, and says the address.

usage: serve.py FOLDER [--port N] [--bare]     --bare: without any of these headers, as a plain host of files does
"""
import argparse
import functools
import http.server
import pathlib


def read_headers(folder):
    """Those of every path: indented lines of the file, as 'Name: value'."""
    lines = (folder / "_headers").read_text().splitlines()
    return [tuple(part.strip() for part in line.split(":", 1)) for line in lines if line.startswith("  ")]


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm",
                      ".js": "text/javascript", ".svg": "image/svg+xml"}

    def __init__(self, *arguments, headers, **named):
        self.extra = headers
        super().__init__(*arguments, **named)

    def end_headers(self):
        for name, value in self.extra:
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--bare", action="store_true")
    words = parser.parse_args()
    headers = [] if words.bare else read_headers(words.folder)
    handler = functools.partial(Handler, directory=str(words.folder), headers=headers)
    with http.server.ThreadingHTTPServer(("127.0.0.1", words.port), handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Tests of lint_tree.py: each rule refuses what it should and lets its nearest legal neighbour pass."""

import pathlib
import tempfile
import unittest

import document_rules
import lint_tree

GUARDED = "// What it is for.\n#ifndef {0}\n#define {0}\n{1}\n#endif  // {0}\n"


def rules_broken(path, text):
    return [breach.rule for breach in lint_tree.lint_file(path, text)]


class LintTreeTest(unittest.TestCase):
    def test_refuses_includes_against_the_order(self):
        cases = [
            ("base/x.cc", "kube/meta/object.h", False),
            ("kube/meta/x.cc", "base/json.h", True),
            ("sandbox/x.cc", "kube/client/client.h", False),
            ("sandbox/x.cc", "kube/meta/object.h", True),
            ("sandbox/x.cc", "sandbox/http/front_end.h", True),
            ("sandbox/http/x.cc", "sandbox/api_server.h", False),
            ("sandbox/http/x.cc", "sandbox/write/write_path.h", True),
            ("kube/server/x.cc", "kube/client/client.h", False),
            ("sandbox/kinds/x.cc", "kube/server/api_errors.h", True),
            ("sandbox/kinds/x.cc", "sandbox/storage/store.h", False),
            ("sandbox/sim/x.cc", "sandbox/write/write_path.h", False),
            ("sandbox/sim/x.cc", "sandbox/sim/writes.h", True),
            ("cmd/interpret/x.cc", "sandbox/kinds/resource_info.h", True),
            ("binding/x.cc", "detector/x.h", False),
            ("binding/x.cc", "works/work_builder.h", True),
            ("controllers/execution/x.cc", "controllers/work_status/y.h", False),
            ("controllers/execution/x.cc", "controllers/execution/y.h", True),
            ("cmd/sandbox/x.cc", "sandbox/api_server.h", True),
            ("cmd/sandbox/x.cc", "tests/support/fake_clock.h", False),
            ("interpreter/x.cc", "base/internal/json_nodes.h", False),
            ("tests/binding/x_test.cc", "detector/x.h", True),
        ]
        for path, include, legal in cases:
            with self.subTest(path=path, include=include):
                self.assertEqual(rules_broken(path, f'#include "{include}"\n') == [], legal)

    def test_refuses_threads_that_are_started_elsewhere(self):
        cases = [
            ("base/x.cc", "std::thread t([] {});", False),
            ("base/x.cc", "thread_ = std::thread([this] { Run(); });", False),
            ("base/x.cc", "X::X() : thread_([this] { Run(); }) {}", False),
            ("base/x.cc", "threads_.emplace_back([this] { Run(); });", False),
            ("base/x.cc", "threads.emplace_back(&X::Run, this);", False),
            ("base/x.cc", "auto later = std::async(Run);", False),
            ("base/x.cc", "pthread_create(&t, nullptr, Run, nullptr);", False),
            ("base/x.cc", 'thread_ = StartThread("x", [this] { Run(); });', True),
            ("base/x.cc", "std::thread thread_;", True),
            ("base/x.cc", "std::thread thread = StartThread(what, run);", True),
            ("base/x.cc", "return id_ == std::thread::id();", True),
            ("base/x.cc", "std::vector<std::thread> threads_;", True),
            ("base/x.cc", "for (std::thread& thread : threads) thread.join();", True),
            ("base/threads.cc", "return std::thread(std::move(run));", True),
            ("tests/base/x_test.cc", "std::thread t([] {});", True),
        ]
        for path, text, legal in cases:
            with self.subTest(path=path, text=text):
                self.assertEqual(rules_broken(path, text + "\n") == [], legal)

    def test_refuses_processes_that_are_started_elsewhere(self):
        cases = [
            ("base/x.cc", "const pid_t pid = fork();", False),
            ("base/x.cc", "posix_spawnp(&pid, name, nullptr, nullptr, words, environ);", False),
            ("base/x.cc", 'FILE* out = popen("ls", "r");', False),
            ("base/x.cc", "// fork() copies page tables.", True),
            ("base/x.cc", "base::StartProgram(start);", True),
            ("base/child_program.cc", "const pid_t pid = vfork();", True),
            ("tests/base/x_test.cc", "const pid_t pid = fork();", True),
        ]
        for path, text, legal in cases:
            with self.subTest(path=path, text=text):
                self.assertEqual(rules_broken(path, text + "\n") == [], legal)

    def test_refuses_libraries_outside_their_door(self):
        cases = [
            ("base/x.cc", "rapidjson/reader.h", True),
            ("api/x.cc", "rapidjson/reader.h", False),
            ("kube/http/x.cc", "cpprest/http_client.h", True),
            ("kube/cache/x.cc", "pplx/pplxtasks.h", False),
            ("lua/x.cc", "lua.hpp", True),
            ("interpreter/x.cc", "lua.hpp", False),
            ("binding/x.cc", "catch2/catch.hpp", False),
            ("tests/base/x_test.cc", "catch2/catch.hpp", True),
            ("sandbox/x.cc", "vector", True),
        ]
        for path, include, legal in cases:
            with self.subTest(path=path, include=include):
                self.assertEqual(rules_broken(path, f"#include <{include}>\n") == [], legal)

    def test_compares_the_documented_doors(self):
        row = "| `{0}` | what lives there | {1} |\n"
        cases = [("lua/", "LuaJIT", []), ("lua/", "", ["lua/ is the door of LuaJIT"]),
                 ("api/", "LuaJIT", ["api/ is not the door of LuaJIT"]),
                 ("cmd/*", "CLI11", []), ("tests/", "Catch2", [])]
        for folder, door, rules in cases:
            with self.subTest(folder=folder, door=door):
                breaches = lint_tree.door_breaches(row.format(folder, door))
                self.assertEqual([b.rule for b in breaches], rules)

    def test_limits_sizes(self):
        why = "// Why.\n"
        self.assertEqual(rules_broken("base/x.cc", why + "x;\n" * 350), [])
        self.assertEqual(len(rules_broken("base/x.cc", why + "x;\n" * 351)), 1)
        self.assertEqual(rules_broken("tests/base/x_test.cc", "x;\n" * 520), [])
        self.assertEqual(len(rules_broken("tests/base/x_test.cc", "x;\n" * 521)), 1)
        not_code = "\n" * 400 + "// Why.\n" * 400 + '#include "base/y.h"\n' + 'auto x = R"(' + "a\n" * 400 + ')";\n'
        self.assertEqual(lint_tree.code_lines(not_code), 1)
        self.assertEqual(len(rules_broken("base/x.cc", "x" * 101 + "\n")), 1)

    def test_wants_the_opening_of_a_long_source(self):
        for path, text, legal in [("base/x.cc", "x;\n" * 120, True), ("base/x.cc", "x;\n" * 121, False),
                                  ("base/x.cc", "// Why.\n" + "x;\n" * 121, True),
                                  ("tests/base/x_test.cc", "x;\n" * 121, True)]:
            with self.subTest(path=path, lines=text.count("\n")):
                self.assertEqual(rules_broken(path, text) == [], legal)

    def test_wants_the_paths_that_documents_name(self):
        text = "`works/a.cc`, `works/a`, `works/`, `docs/NAME.md`, `apps/v1`, `works/gone.cc` and `works/b`\n`rig/x.py` beside"
        files = ["works/a.cc", "docs/page.md", "docs/rig/x.py", "CHANGELOG.md"]
        breaches = lint_tree.path_breaches(files, lambda path: text)
        self.assertEqual([b.rule for b in breaches],
                         ["names works/gone.cc, which is not there", "names works/b, which is not there"])

    def test_wants_the_prose_of_documents_wrapped(self):
        wide = "word " * 31
        def lines(text):
            return [number for number, line in lint_tree.prose_lines(text) if len(line) > lint_tree.MAX_PROSE_COLUMNS]
        self.assertEqual(lines(f"{wide}\n\n- {wide}\n  {wide}\n\n  {wide}\n\n1. x\n\n    {wide}\n> {wide}\n"),
                         [1, 3, 4, 6, 10, 11])
        for fine in (f"| {wide} |\n", f"# {wide}\n", f"```\n{wide}\n\n{wide}\n```\n", f"x\n\n    {wide}\n    {wide}\n",
                     f"- x\n  ```sh\n  {wide}\n  ```\n", f"<!-- {wide} -->\n", f"[a]: {wide}\n"):
            self.assertEqual(lines(fine), [], fine)
        self.assertEqual(lines(f"```\n```\n{wide}\n"), [3])
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "x.md").write_text(f"{wide}\n- [{'x' * 200}](y)\n{wide[:150]}\n")
            self.assertEqual([(b.path, b.line) for b in lint_tree.width_breaches(root)], [("x.md", 1)])

    def test_wants_the_guard_and_comment_of_a_header(self):
        self.assertEqual(rules_broken("kube/meta/x.h", GUARDED.format("KUBE_META_X_H_", "")), [])
        self.assertEqual(len(rules_broken("kube/meta/x.h", GUARDED.format("X_H_", ""))), 1)
        self.assertEqual(len(rules_broken("kube/meta/x.h", GUARDED.format("KUBE_META_X_H_", "")[3:])), 1)

    def test_refuses_domain_names_outside_api(self):
        line = 'const char* kLabel = "work.karmada.io/permanent-id";\n'
        self.assertEqual(len(rules_broken("binding/x.cc", line)), 1)
        self.assertEqual(len(rules_broken("sandbox/x.cc", line)), 1)
        self.assertEqual(rules_broken("api/labels.cc", line), [])
        self.assertEqual(rules_broken("tests/binding/x_test.cc", line), [])
        self.assertEqual(rules_broken("binding/x.cc", '// The label "work.karmada.io/permanent-id".\n'), [])
        self.assertEqual(rules_broken("binding/x.cc", 'F("label work.karmada.io/x is empty");\n'), [])
        self.assertEqual(len(rules_broken("binding/x.cc", 'F("http://x", "a.karmada.io/b");\n')), 1)
        group = 'if (gvk.group == "work.karmada.io") return;\n'
        self.assertEqual(len(rules_broken("sandbox/sim/x.cc", group)), 1)
        self.assertEqual(rules_broken("config/support.cc", group), [])

    def test_wants_a_number_with_a_todo(self):
        self.assertEqual(len(rules_broken("base/x.cc", "// TODO: later\n")), 1)
        self.assertEqual(rules_broken("base/x.cc", "// TODO(12): later\n"), [])

    def test_refuses_empty_words_in_type_names(self):
        self.assertEqual(len(rules_broken("base/x.cc", "class JsonHelper {};\n")), 1)
        self.assertEqual(len(rules_broken("base/x.cc", "struct CommonOptions {};\n")), 1)
        self.assertEqual(rules_broken("kube/runtime/x.cc", "class Manager {};\n"), [])
        self.assertEqual(rules_broken("base/x.cc", "class Utility; // no class JsonUtil\n")[1:], [])

    def test_wants_a_readme_per_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "base" / "internal").mkdir(parents=True)
            (root / "base" / "x.cc").write_text("\n")
            (root / "base" / "internal" / "y.cc").write_text("\n")
            self.assertEqual([b.path for b in lint_tree.lint_tree(root)], ["base"])
            (root / "base" / "README.md").write_text("# base\n")
            self.assertEqual(lint_tree.lint_tree(root), [])

    def test_refuses_lists_of_includes_in_a_readme(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "base").mkdir()
            (root / "base" / "x.cc").write_text("\n")
            (root / "base" / "README.md").write_text("# base\n\nMay include: nothing of ours.\n")
            self.assertEqual([b.path for b in lint_tree.lint_tree(root)], ["base/README.md"])

    def test_wants_links_that_lead_somewhere(self):
        texts = {"docs/a.md": "# A b, `c`!\n\n## Twice\n\n## Twice\n"}
        for link, good in (("a.md", True), ("a.md#a-b-c", True), ("a.md#twice-1", True), ("a.md#twice-2", False), ("../docs/b.md", True),
                           ("../docs", True), ("c.md", False), ("#there", True), ("#nowhere", False), ("https://example.com/x.md", True)):
            page = {"docs/b.md": f"# There\n\n[x]({link})\n"}
            found = list(document_rules.check_links(texts | page, {"docs/a.md", "docs/b.md"}))
            self.assertEqual(not found, good, link)
        self.assertEqual(list(document_rules.check_links({"b.md": "```\n[x](c.md)\n```\n"}, {"b.md"})), [])

    def test_refuses_cells_that_nobody_reads(self):
        for length, fine in ((document_rules.MAX_CELL_COLUMNS, True), (document_rules.MAX_CELL_COLUMNS + 1, False)):
            self.assertEqual(not list(document_rules.check_cells({"a.md": f"| x | {'y' * length} |\n"}, set())), fine)

    def test_wants_pictures_that_can_be_heard(self):
        whole = "<svg><title>T</title><desc>D</desc></svg>"
        for page, picture, count in (("![text](p.svg)", whole, 0), ("![](p.svg)", whole, 1), ("![text](p.svg)", "<svg><title>T</title></svg>", 1),
                                     ("![text](p.svg)", "<svg/>", 2), ("[text](p.svg)", "<svg/>", 0)):
            self.assertEqual(len(list(document_rules.check_pictures({"a.md": page, "p.svg": picture}, set()))), count, page + picture)

    def test_wants_headers_that_nobody_else_includes_in_internal(self):
        def breaches(files):
            return [b.path for b in lint_tree.internal_breaches(files)]

        hidden = {"base/internal/y.h": "", "base/x.h": "", "base/x.cc": '#include "base/x.h"\n'}
        self.assertEqual(breaches(hidden), ["base/x.h"])
        self.assertEqual(breaches(hidden | {"tests/base/x_test.cc": '#include "base/x.h"\n'}), ["base/x.h"])
        self.assertEqual(breaches(hidden | {"api/z.cc": '#include "base/x.h"\n'}), [])
        self.assertEqual(breaches(hidden | {"base/z.h": '#include "base/x.h"\n',
                                            "api/z.cc": '#include "base/z.h"\n'}), [])
        # A folder without internal/ keeps nothing back.
        self.assertEqual(breaches({"works/x.h": "", "works/x.cc": '#include "works/x.h"\n'}), [])
        inside = {"controllers/a/internal/y.h": "", "controllers/a/x.h": ""}
        self.assertEqual(breaches(inside), ["controllers/a/x.h"])
        self.assertEqual(breaches({"controllers/a/internal/y.h": "", "controllers/b/x.h": ""}), [])


if __name__ == "__main__":
    unittest.main()

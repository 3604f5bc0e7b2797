#!/usr/bin/env python3
"""Tests of event_reasons.py: docs/events.md as it is passes, and each way to make it untrue is found."""

import pathlib
import unittest

import event_reasons

ROOT = pathlib.Path(__file__).parents[2]
HEADER = """
namespace api {
namespace reason {
inline constexpr char kSyncFailed[] = "SyncFailed";
inline constexpr char kLong[] =
    "LongReason";
}  // namespace reason
namespace message {
inline constexpr char kSyncFailed[] = "It failed.";
}
inline constexpr char kLoop[] = "the-loop";
}
"""
SCALING = """
namespace api::scaling {
inline constexpr char kScaled[] = "Scaled";
namespace message {
inline constexpr char kScaled[] = "It was scaled.";
}
}
"""
LOOP = """
namespace controllers {
constexpr char kLocal[] = "LocalReason";
void F() {
  recorder_.Warning(About(a, b), api::reason::kSyncFailed, "text, with ) and \\" in it");
  recorder_.Outcome({.success = {api::reason::kLong, ""}, .failure = {kLocal, ""}}, result);
  pass.Set(api::ConditionOf(type, true, scaling::kScaled, ""));
  // recorder_.Warning(about, "InAComment", "");
}
}
"""
FILES = {"api/reasons.h": HEADER, "api/scaling_reasons.h": SCALING, "controllers/loop/loop.cc": LOOP}
PAGE = """
| type | reason | from | when |
|---|---|---|---|
| Warning | `SyncFailed` | `the-loop` | each |
| Normal | `LongReason` (ours) | `the-loop` | each |
| Warning | `LocalReason` | `the-loop` | each |

| condition | reason | from | means |
|---|---|---|---|
| `Able` True | `Scaled` | `the-loop` | it was |
"""


def breaches(page=PAGE, **files):
    changed = {path.replace("__", "/") + ".cc": text for path, text in files.items()}
    return list(event_reasons.breaches(page, event_reasons.Sources(FILES | changed)))


class SmallTreeTest(unittest.TestCase):
    def test_a_true_page_passes(self):
        self.assertEqual(breaches(), [])

    def test_each_row_is_missed(self):
        for line in PAGE.splitlines():
            if "`the-loop`" in line:
                with self.subTest(line=line):
                    self.assertNotEqual(breaches(PAGE.replace(line + "\n", "")), [])

    def test_a_wrong_type_is_found(self):
        self.assertIn("SyncFailed (Warning)", breaches(PAGE.replace("| Warning | `SyncFailed`", "| Normal | `SyncFailed`"))[0])
        self.assertIn("LongReason (Normal)", breaches(PAGE.replace("| Normal | `Long", "| Warning | `Long"))[0])
        self.assertIn("Scaled (condition)", breaches(PAGE.replace("| `Able` True |", "| Normal |"))[0])

    def test_reasons_and_controllers_that_the_code_does_not_have_are_found(self):
        row = "| Warning | `Invented` | `the-loop` | each |\n"
        self.assertIn("Invented is no reason", breaches(PAGE.replace("| Warning | `Loc", row + "| Warning | `Loc"))[0])
        self.assertIn("no-loop is no controller", breaches(PAGE.replace("`the-loop`", "`no-loop`", 1))[0])

    def test_a_row_has_one_reason(self):
        found = breaches(PAGE.replace("`SyncFailed`", "`SyncFailed`, `LongReason`"))
        self.assertIn("a row has one reason", found[0])

    def test_every_way_to_record_is_seen(self):
        cases = [
            ('recorder_.Normal(about, "New", text);', "New (Normal)"),
            ('recorder_.Routine(about, "New", text);', "New (Normal)"),
            ('events().Record(source, about, kube::EventType::kWarning, "New", text);', "New (Warning)"),
            ('events().Record(source, about, open ? EventType::kWarning : EventType::kNormal,'
             ' open ? "Opened" : "Closed", text);', "Closed (Normal)"),
            ('constexpr char kNew[] = "New"; void F() { Warn(*object, kNew, why); }', "New (Warning)"),
            ('kube::SetCondition(conditions, {type, "True", "New", ""}, now);', "New (condition)"),
            ('json::Value::Object({{"type", "X"}, {"reason", "New"}});', "New (condition)"),
            ('constexpr Texts kTexts = {.failure_reason = "New"};', "New (condition)"),
            ('constexpr Texts kTexts = {.success_event = "New"};', "New (Normal)"),
        ]
        for text, wanted in cases:
            with self.subTest(text=text):
                self.assertTrue(any(wanted in breach for breach in breaches(controllers__x__x=text)))

    def test_a_constant_of_a_reason_that_nobody_uses_is_found(self):
        unused = HEADER.replace("}  // namespace reason", 'inline constexpr char kOld[] = "Old";\n}  // namespace reason')
        files = FILES | {"api/reasons.h": unused}
        page = PAGE.replace("| Warning | `Loc", "| Warning | `Old` | `the-loop` | each |\n| Warning | `Loc")
        found = list(event_reasons.breaches(page, event_reasons.Sources(files)))
        self.assertEqual(found, ["api/:0: reason::kOld is used nowhere"])


class WholeTreeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = event_reasons.read_sources(ROOT)
        cls.page = (ROOT / event_reasons.PAGE).read_text()

    def test_reads_what_is_there(self):
        # Were a pattern to match nothing any more, everything would pass.
        self.assertGreater(len(self.sources.declared), 100)
        recorded = self.sources.recorded()
        for pair in (("SyncFailed", "Warning"), ("PolicyReleased", "Normal"), ("WebhookResumed", "Normal"),
                     ("InvalidCertificateRequest", "Warning"), ("ConfigurationLoaded", "Normal"),
                     ("AppliedFailed", "condition"), ("UnhealthyInCluster", "condition"),
                     ("AutoApproved", "condition"), ("JobFailed", "condition")):
            self.assertIn(pair, recorded)

    def test_without_its_tables_every_reason_is_missed(self):
        prose = "\n".join(line for line in self.page.splitlines() if not line.startswith("|"))
        found = "\n".join(event_reasons.breaches(prose, self.sources))
        for constant in self.sources.declared:
            if constant.text not in event_reasons.OF_FIELDS:
                self.assertIn(f"{constant.text} (api {constant.qualified}) is missing", found)
        for reason, kind in self.sources.recorded():
            self.assertIn(f"no row for {reason} ({kind})", found)


if __name__ == "__main__":
    unittest.main()

//! The steps of the test, in order, with their results.

use anyhow::Result;
use countersign_client::screen;
use serde::Serialize;
use serde_json::json;

#[derive(Default)]
pub struct SmokeReport {
    steps: Vec<ReportStep>,
}

#[derive(Serialize)]
struct ReportStep {
    step: &'static str,
    ok: bool,
    message: String,
}

impl SmokeReport {
    /// Records a step; returns `None` if it failed.
    pub fn record<T>(&mut self, step: &'static str, result: Result<(T, String)>) -> Option<T> {
        match result {
            Ok((value, message)) => {
                self.steps.push(ReportStep {
                    step,
                    ok: true,
                    message,
                });
                Some(value)
            }
            Err(error) => {
                self.steps.push(ReportStep {
                    step,
                    ok: false,
                    message: format!("{error:#}"),
                });
                None
            }
        }
    }

    /// Records a step that no other depends on. An empty message means that there was nothing to do.
    pub fn check(&mut self, step: &'static str, result: Result<String>) {
        if !matches!(&result, Ok(text) if text.is_empty()) {
            self.record(step, result.map(|text| ((), text)));
        }
    }

    pub fn passed(&self) -> bool {
        self.failed() == 0
    }

    fn failed(&self) -> usize {
        self.steps.iter().filter(|step| !step.ok).count()
    }

    pub fn render(&self, json: bool) -> String {
        if json {
            return screen::json(&json!({ "ok": self.passed(), "steps": self.steps }));
        }
        let line = |step: &ReportStep| {
            let mark = if step.ok { "ok" } else { "FAILED" };
            format!("{mark:<6}  {:<15}  {}\n", step.step, screen::escape(&step.message))
        };
        let lines: String = self.steps.iter().map(line).collect();
        format!("{lines}\n{}\n", self.verdict())
    }

    fn verdict(&self) -> String {
        match (self.failed(), self.steps.len()) {
            (0, all) => format!("passed: all {all} steps"),
            (failed, all) => format!("FAILED: {failed} of {all} steps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn one_failed_step_fails_the_test() {
        let mut report = SmokeReport::default();
        assert_eq!(report.record("hub", Ok((7, "it answers".to_owned()))), Some(7));
        report.check("nothing", Ok(String::new()));
        assert!(report.passed());
        assert_eq!(
            report.render(false),
            "ok      hub              it answers\n\npassed: all 1 steps\n"
        );
        assert_eq!(report.record::<()>("push", Err(anyhow!("late\u{1b}"))), None);
        assert!(!report.passed());
        let text = report.render(false);
        assert!(
            text.contains("FAILED  push             late\\") && text.ends_with("FAILED: 1 of 2 steps\n"),
            "{text}"
        );
        let json: serde_json::Value = serde_json::from_str(&report.render(true)).unwrap();
        assert_eq!(
            (json["ok"].as_bool(), json["steps"][1]["step"].as_str()),
            (Some(false), Some("push"))
        );
    }
}

use super::Outcome;
use super::figure::{Base, Figure, Goal};

/// Prints the figures of one scenario, one per line.
pub fn print(outcome: &Outcome) {
    println!(
        "\n{}  ({:.0} s, other programs took {:.0} % of the machine)",
        outcome.scenario,
        outcome.seconds,
        outcome.taken_by_others * 100.0
    );
    println!(
        "  {:<44} {:>10} {:>24}  {:<20} {:<14}",
        "figure", "measured", "base", "ratio (low–high)", "goal"
    );
    for figure in &outcome.figures {
        println!("{}", line(figure));
    }
}

fn line(figure: &Figure) -> String {
    let name = format!("{} [{}]", figure.name, figure.unit);
    let base = figure
        .base
        .as_ref()
        .map_or_else(String::new, |base| format!("{} {}", base.name, number(base.value)));
    let ratio = figure.base.as_ref().map_or_else(String::new, ratio);
    let met = match figure.met {
        None => "",
        Some(true) => "met",
        Some(false) => "MISSED",
    };
    let goal = figure
        .goal
        .map_or_else(String::new, |goal| format!("{} {met}", describe(goal)));
    let measured = number(figure.value);
    format!("  {name:<44} {measured:>10} {base:>24}  {ratio:<20} {goal:<14}")
        .trim_end()
        .to_owned()
}

fn ratio(base: &Base) -> String {
    format!("{:.2} ({:.2}–{:.2})", base.ratio, base.lowest, base.highest)
}

fn describe(goal: Goal) -> String {
    match goal {
        Goal::RatioAtLeast(least) => format!("≥ {least}×"),
        Goal::RatioAtMost(limit) => format!("≤ {limit}×"),
        Goal::ValueAtLeast(least) => format!("≥ {least}"),
        Goal::ValueAtMost(limit) => format!("≤ {limit}"),
    }
}

/// Formats with about three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        small if small >= 0.1 || small == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_measurement_base_ratio_and_goal() {
        let figure = Figure::single("submit", "1/s", vec![15_000.0]).against("ceiling", vec![20_000.0]);
        let line = line(&figure.goal(Goal::RatioAtLeast(0.7)));
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            words,
            [
                "submit",
                "[1/s]",
                "15000",
                "ceiling",
                "20000",
                "0.75",
                "(0.75–0.75)",
                "≥",
                "0.7×",
                "met"
            ]
        );
    }
}

use serde::Serialize;

/// The goal of a figure.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    RatioAtLeast(f64),
    RatioAtMost(f64),
    ValueAtLeast(f64),
    ValueAtMost(f64),
}

/// One measured quantity: the median of its runs, compared to a base measured in the same run.
#[derive(Serialize)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub value: f64,
    pub runs: Vec<f64>,
    pub base: Option<Base>,
    pub goal: Option<Goal>,
    pub met: Option<bool>,
}

#[derive(Serialize)]
pub struct Base {
    pub name: &'static str,
    pub value: f64,
    pub runs: Vec<f64>,
    /// Median over median.
    pub ratio: f64,
    /// The lowest and highest ratio of two runs of the same round.
    pub lowest: f64,
    pub highest: f64,
}

impl Figure {
    pub fn single(name: impl Into<String>, unit: &'static str, runs: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            unit,
            value: median(&runs),
            runs,
            base: None,
            goal: None,
            met: None,
        }
    }

    /// Compares with a base; both lists are in the order of the rounds.
    pub fn against(mut self, name: &'static str, runs: Vec<f64>) -> Self {
        let ratios: Vec<f64> = self.runs.iter().zip(&runs).map(|(own, base)| own / base).collect();
        let value = median(&runs);
        let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.base = Some(Base {
            name,
            value,
            runs,
            ratio: self.value / value,
            lowest,
            highest,
        });
        self
    }

    pub fn goal(mut self, goal: Goal) -> Self {
        let ratio = self.base.as_ref().map(|base| base.ratio);
        self.met = match goal {
            Goal::RatioAtLeast(least) => ratio.map(|ratio| ratio >= least),
            Goal::RatioAtMost(limit) => ratio.map(|ratio| ratio <= limit),
            Goal::ValueAtLeast(least) => Some(self.value >= least),
            Goal::ValueAtMost(limit) => Some(self.value <= limit),
        };
        self.goal = Some(goal);
        self
    }
}

fn median(runs: &[f64]) -> f64 {
    let mut sorted = runs.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (length, middle) if length % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_medians_and_the_spread_of_neighbours() {
        let figure = Figure::single("submits", "1/s", vec![70.0, 90.0, 80.0]).against("ceiling", vec![100.0; 3]);
        let base = figure.base.as_ref().expect("a base");
        assert_eq!((base.ratio, base.lowest, base.highest), (0.8, 0.7, 0.9));
        assert_eq!(figure.goal(Goal::RatioAtLeast(0.75)).met, Some(true));
    }

    #[test]
    fn an_even_number_of_runs_has_its_median_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}

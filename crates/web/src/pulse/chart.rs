//! A bar chart as SVG: the geometry of its bars. The stylesheet has the colours, and the labels are text beside it.

/// Units of a bar and the gap to the next one.
const BAR_WIDTH: usize = 8;
const BAR_STEP: usize = 10;
/// The height of the tallest bar.
const HEIGHT: usize = 1000;

pub struct Bar {
    pub label: String,
    /// The figures of the bar in words.
    pub title: String,
    /// Numbers that are stacked from the bottom, each with its style.
    pub parts: Vec<(&'static str, usize)>,
}

pub struct Chart {
    pub bars: Vec<DrawnBar>,
    pub max: usize,
}

pub struct DrawnBar {
    pub label: String,
    pub title: String,
    pub x: usize,
    pub pieces: Vec<Piece>,
}

pub struct Piece {
    pub style: &'static str,
    pub y: usize,
    pub height: usize,
}

impl Chart {
    pub fn of(bars: Vec<Bar>) -> Self {
        let sum = |bar: &Bar| bar.parts.iter().map(|(_, count)| count).sum::<usize>();
        let max = bars.iter().map(sum).max().unwrap_or_default();
        Self {
            max,
            bars: bars
                .into_iter()
                .enumerate()
                .map(|(nth, bar)| DrawnBar {
                    x: nth * BAR_STEP + (BAR_STEP - BAR_WIDTH) / 2,
                    pieces: stacked(&bar.parts, max),
                    label: bar.label,
                    title: bar.title,
                })
                .collect(),
        }
    }

    pub fn view_box(&self) -> String {
        format!("0 0 {} {HEIGHT}", self.bars.len() * BAR_STEP)
    }

    pub fn bar_width(&self) -> usize {
        BAR_WIDTH
    }

    /// All bars in words, for people who do not see them.
    pub fn in_words(&self) -> String {
        let titles: Vec<&str> = self.bars.iter().map(|bar| bar.title.as_str()).collect();
        titles.join(". ")
    }

    pub fn first_label(&self) -> &str {
        self.bars.first().map_or("", |bar| &bar.label)
    }

    pub fn last_label(&self) -> &str {
        self.bars.last().map_or("", |bar| &bar.label)
    }
}

fn stacked(parts: &[(&'static str, usize)], max: usize) -> Vec<Piece> {
    let mut below = 0;
    let mut pieces = Vec::new();
    for (style, count) in parts.iter().filter(|(_, count)| *count > 0) {
        let top = (below + count) * HEIGHT / max;
        pieces.push(Piece {
            style,
            y: HEIGHT - top,
            height: top - below * HEIGHT / max,
        });
        below += count;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(parts: &[(&'static str, usize)]) -> Bar {
        Bar {
            label: String::new(),
            title: String::new(),
            parts: parts.to_vec(),
        }
    }

    #[test]
    fn pieces_stand_on_each_other_and_the_tallest_bar_fills_the_height() {
        let chart = Chart::of(vec![
            bar(&[("good", 1), ("plain", 0), ("bad", 2)]),
            bar(&[]),
            bar(&[("good", 1)]),
        ]);
        let geometry = |nth: usize| -> Vec<_> {
            let pieces = chart.bars[nth].pieces.iter();
            pieces.map(|piece| (piece.style, piece.y, piece.height)).collect()
        };
        assert_eq!(geometry(0), [("good", 667, 333), ("bad", 0, 667)]);
        assert_eq!((geometry(1), geometry(2)), (vec![], vec![("good", 667, 333)]));
        assert_eq!((chart.max, chart.view_box().as_str()), (3, "0 0 30 1000"));
    }

    #[test]
    fn chart_without_figures_has_no_pieces() {
        let chart = Chart::of(vec![bar(&[("good", 0)])]);
        assert!(chart.bars[0].pieces.is_empty() && chart.max == 0);
    }
}

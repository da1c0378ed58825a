//! A little SVG: what the plots need. Colours are classes of `style.css`, so that a plot follows
//! its reader's theme.

use std::fmt::Write;

/// Colours of series: classes `c0`, `c1` ...
pub const COLOURS: usize = 8;

/// A picture that is being drawn.
pub struct Svg {
    size: [f64; 2],
    title: String,
    body: String,
}

/// Text in an element or attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Svg {
    /// An empty one. Readers of screens are told its title.
    pub fn new(size: [f64; 2], title: &str) -> Svg {
        Svg { size, title: escape(title), body: String::new() }
    }

    /// A line.
    pub fn line(&mut self, class: &str, [x, y]: [f64; 2], [u, v]: [f64; 2]) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{x:.1}" y1="{y:.1}" x2="{u:.1}" y2="{v:.1}"/>"#
        );
    }

    /// Lines through points.
    pub fn path(&mut self, class: &str, points: &[[f64; 2]]) {
        let points: Vec<_> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.body, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
    }

    /// A rectangle, with words for a pointer that rests on it.
    pub fn bar(&mut self, class: &str, [x, y]: [f64; 2], [w, h]: [f64; 2], words: &str) {
        let words = escape(words);
        let _ = writeln!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}"><title>{words}</title></rect>"#
        );
    }

    /// A dot, likewise.
    pub fn dot(&mut self, class: &str, [x, y]: [f64; 2], words: &str) {
        let words = escape(words);
        let _ = writeln!(
            self.body,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.5"><title>{words}</title></circle>"#
        );
    }

    /// Words; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, anchor: &str, [x, y]: [f64; 2], words: &str) {
        let words = escape(words);
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{words}</text>"#
        );
    }

    /// To be put into a page, which has the style.
    pub fn inline(&self) -> String {
        let ([w, h], title, body) = (self.size, &self.title, &self.body);
        format!(
            "<svg class=\"plot\" width=\"{w:.0}\" height=\"{h:.0}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w:.0} {h:.0}\" role=\"img\" \
             aria-label=\"{title}\">\n{body}</svg>\n"
        )
    }

    /// As a file of its own.
    pub fn file(&self) -> String {
        let style = include_str!("plot.css");
        self.inline().replacen(">\n", &format!(">\n<style>\n{style}</style>\n"), 1)
    }
}

/// A logarithmic axis: values to places.
#[derive(Clone, Copy)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Around all values that are above zero, with whole powers of ten at the ends if `whole`.
    pub fn around(values: impl Iterator<Item = f64>, [from, to]: [f64; 2], whole: bool) -> Axis {
        let logs = values.filter(|v| v.is_finite() && *v > 0.0).map(f64::log10);
        let (mut low, mut high) = logs.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        match whole {
            true => (low, high) = (low.floor(), high.ceil()),
            false => (low, high) = (low - 0.05, high + 0.05),
        }
        if high - low < 0.1 {
            (low, high) = (low - 0.5, high + 0.5);
        }
        Axis { low, high, from, to }
    }

    /// Where a value is.
    pub fn at(&self, value: f64) -> f64 {
        let part = (value.max(1e-300).log10() - self.low) / (self.high - self.low);
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Values worth a label: powers of ten, or of two where the axis is short.
    pub fn ticks(&self) -> Vec<f64> {
        let (base, step) = if self.high - self.low < 2.0 { (2.0f64, 1) } else { (10.0, 1) };
        let [low, high] = [self.low, self.high].map(|log| log / base.log10());
        let step = step * ((high - low) / 8.0).ceil().max(1.0) as usize;
        let powers = (low.ceil() as i32..=high.floor() as i32).step_by(step);
        powers.map(|power| base.powi(power)).collect()
    }
}

//! A QR code as SVG. The terminal shows the same codes in half blocks (`countersign serve`).

use qrcode::{Color, EcLevel};

/// Light modules around the code; the standard asks for four.
const QUIET_ZONE: usize = 4;

pub struct QrCode {
    pub text: String,
    /// Modules on each side, with the quiet zone.
    pub size: usize,
    /// The dark modules as the data of an SVG path.
    pub path: String,
}

impl QrCode {
    /// Returns `None` if the text is too long for a code.
    pub fn of(text: &str) -> Option<Self> {
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = code.width();
        let modules = code.to_colors();
        let dark = modules.iter().enumerate().filter(|(_, colour)| **colour == Color::Dark);
        let squares = dark.map(|(at, _)| format!("M{} {}h1v1h-1z", at % width + QUIET_ZONE, at / width + QUIET_ZONE));
        Some(Self {
            text: text.to_owned(),
            size: width + 2 * QUIET_ZONE,
            path: squares.collect(),
        })
    }
}

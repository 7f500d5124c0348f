//! Reads a QR code as a phone does.

use rqrr::PreparedImage;

/// The pixels of one module: a reader needs several.
const SCALE: usize = 4;
/// Light modules around the code.
const QUIET_ZONE: usize = 4;

/// The text of a code, given as rows of modules; `true` is dark.
pub fn qr_text(modules: &[Vec<bool>]) -> Option<String> {
    let width = modules.first().map_or(0, Vec::len);
    let is_dark = |x: usize, y: usize| {
        let at = |pixel: usize| (pixel / SCALE).checked_sub(QUIET_ZONE);
        let row = at(y).and_then(|row| modules.get(row));
        row.zip(at(x)).and_then(|(row, x)| row.get(x)).is_some_and(|dark| *dark)
    };
    let size = |count: usize| (count + 2 * QUIET_ZONE) * SCALE;
    let mut image =
        PreparedImage::prepare_from_greyscale(
            size(width),
            size(modules.len()),
            |x, y| {
                if is_dark(x, y) { 0 } else { 255 }
            },
        );
    let grids = image.detect_grids();
    grids.first()?.decode().ok().map(|(_, text)| text)
}

//! docs/tutorial.md, line by line, by a reader with an empty home.

use crate::reader::Reader;

const PAGE: &str = include_str!("../../../../docs/tutorial.md");

#[test]
fn the_tutorial_works_as_written() {
    let mut reader = Reader::new("tutorial");
    let commands = reader.follow(PAGE);
    assert!(commands >= 18, "{commands} commands");
    reader.finish();
}

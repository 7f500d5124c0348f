//! An animated PNG out of still ones of the same size: their compressed data, wrapped as frames.

use flate2::Crc;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

pub struct Frame {
    pub png: Vec<u8>,
    pub millis: u16,
}

/// The chunks of a PNG: type and data.
fn chunks(png: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut rest = png.strip_prefix(SIGNATURE).expect("a PNG");
    let mut chunks = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (kind, after) = after.split_at(4);
        let (data, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        chunks.push((kind, data));
        rest = &after[4..];
    }
    chunks
}

fn push(out: &mut Vec<u8>, kind: &[u8], data: &[&[u8]]) {
    let data = data.concat();
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(&data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

/// Shows the frames in a loop, each for its time.
pub fn animated(frames: &[Frame]) -> Vec<u8> {
    let stills: Vec<_> = frames.iter().map(|frame| chunks(&frame.png)).collect();
    let (_, header) = stills[0][0];
    let mut out = SIGNATURE.to_vec();
    push(&mut out, b"IHDR", &[header]);
    let endless = 0_u32;
    push(
        &mut out,
        b"acTL",
        &[&(frames.len() as u32).to_be_bytes(), &endless.to_be_bytes()],
    );
    let mut numbers = 0_u32..;
    let mut number = || numbers.next().expect("a number").to_be_bytes();
    for (index, (still, frame)) in stills.iter().zip(frames).enumerate() {
        assert_eq!(still[0].1, header, "all frames have the same size and colours");
        let (size, at_origin, replace) = (&header[..8], [0; 8], [0; 2]);
        let (time, per_second) = (frame.millis.to_be_bytes(), 1000_u16.to_be_bytes());
        push(
            &mut out,
            b"fcTL",
            &[&number(), size, &at_origin, &time, &per_second, &replace],
        );
        for (_, data) in still.iter().filter(|(kind, _)| *kind == b"IDAT") {
            match index {
                0 => push(&mut out, b"IDAT", &[data]),
                _ => push(&mut out, b"fdAT", &[&number(), data]),
            }
        }
    }
    push(&mut out, b"IEND", &[]);
    out
}

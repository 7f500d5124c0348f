//! Where a run goes next, whom it asks, and what they see: these are the promises.

mod asks;
mod broadcast;
mod cycle;
mod failure;
mod random;
mod scene;
mod sequence;
mod stored;

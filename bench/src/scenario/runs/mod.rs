//! Runs of strategies, over the socket of their clients. Each part has its own servers, so that memory left by one part
//! is not counted in the next.

mod answering;
mod client;
mod replay;
mod slow;
mod strategy;
mod waiting;

use anyhow::Result;

use super::Settings;
use crate::report::Figure;

pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let mut figures = answering::run(settings).await?;
    figures.extend(waiting::run(settings).await?);
    figures.extend(replay::run(settings).await?);
    figures.extend(slow::run(settings).await?);
    Ok(figures)
}

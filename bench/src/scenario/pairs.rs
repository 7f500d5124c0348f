use anyhow::Result;

/// Measures two sides in turns, A B B A A B B A, so that a machine that slows down meanwhile slows both.
pub async fn in_turns<T, U>(
    rounds: usize,
    mut first: impl AsyncFnMut() -> Result<T>,
    mut second: impl AsyncFnMut() -> Result<U>,
) -> Result<(Vec<T>, Vec<U>)> {
    let mut firsts = Vec::new();
    let mut seconds = Vec::new();
    for round in 0..rounds {
        if round % 2 == 0 {
            firsts.push(first().await?);
            seconds.push(second().await?);
        } else {
            seconds.push(second().await?);
            firsts.push(first().await?);
        }
    }
    Ok((firsts, seconds))
}

/// One quantity of every run.
pub fn each<T>(runs: &[T], quantity: impl Fn(&T) -> f64) -> Vec<f64> {
    runs.iter().map(quantity).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test]
    async fn the_order_turns_around_each_round() {
        let order = RefCell::new(String::new());
        let note = async |side: char| {
            order.borrow_mut().push(side);
            Ok(())
        };
        in_turns(3, async || note('a').await, async || note('b').await)
            .await
            .expect("no error");
        assert_eq!(order.into_inner(), "abbaab");
    }
}

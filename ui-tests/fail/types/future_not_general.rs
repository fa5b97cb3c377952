//! A future over borrows of its own is the compiler's limit, and is shown in the author's function.

use capability_core::capability;

async fn length(word: &str) -> usize {
    std::future::ready(()).await;
    word.len()
}

async fn sum<I: Iterator<Item: std::future::Future<Output = usize>>>(futures: I) -> usize {
    let mut total = 0;
    for future in futures {
        total += future.await;
    }
    total
}

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn lengths(words: Vec<String>) -> usize {
    sum(words.iter().map(|word| async move { length(word).await })).await
}

fn main() {}

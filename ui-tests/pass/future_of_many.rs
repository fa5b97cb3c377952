//! Borrows held over an await, in closures and in streams of futures, are the author's to make.
#![deny(warnings, unused_qualifications, unsafe_code)]

use std::future::{Future, ready};
use std::pin::Pin;

use capability_core::capability;
use capability_core::handle::Context;

#[capability(name = "future.borrows", version = 1, side_effect = read_only, network = local)]
async fn borrows(context: &Context, words: Vec<String>) -> usize {
    let mut total = 0;
    let futures = words.iter().map(|word| async move {
        ready(()).await;
        word.len() + context.turn_length(word)
    });
    for future in futures {
        total += future.await;
    }
    let boxed: Vec<Pin<Box<dyn Future<Output = usize> + Send + '_>>> =
        words.iter().map(|word| Box::pin(async move { word.len() }) as Pin<Box<_>>).collect();
    for future in boxed {
        total += future.await;
    }
    total
}

async fn sum<I: Iterator<Item: Future<Output = usize>>>(futures: I) -> usize {
    let mut total = 0;
    for future in futures {
        total += future.await;
    }
    total
}

async fn length(word: &str) -> usize {
    ready(()).await;
    word.len()
}

#[capability(name = "future.owns", version = 1, side_effect = read_only, network = local)]
async fn owns(words: Vec<String>) -> usize {
    sum(words.into_iter().map(|word| async move { length(&word).await })).await
}

trait Length {
    fn turn_length(&self, word: &str) -> usize;
}

impl Length for Context {
    fn turn_length(&self, word: &str) -> usize {
        word.len()
    }
}

fn main() {}

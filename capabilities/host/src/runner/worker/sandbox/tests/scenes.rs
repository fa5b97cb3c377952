//! What workers act.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime};

use super::super::Achieved;

pub(super) fn act(scene: &str, channel: &mut File, achieved: &Achieved) {
    match scene {
        "ordinary" => ordinary(),
        "achieved" => writeln!(channel, "{achieved}").expect("it is heard"),
        other => panic!("there is no scene {other}"),
    }
}

fn ordinary() {
    println!("to nobody");
    eprintln!("to nobody");
    assert!(SystemTime::now() > SystemTime::UNIX_EPOCH);
    assert_eq!(HashMap::from([(1, 2)]).get(&1), Some(&2));
    let memory = vec![7_u8; 64 << 20];
    assert!(memory.iter().all(|byte| *byte == 7));
    let threads: Vec<_> = (0..8).map(|at| std::thread::spawn(move || at * 2)).collect();
    let sum: i32 = threads.into_iter().map(|thread| thread.join().expect("it ran")).sum();
    assert_eq!(sum, 56);
    let caught = std::panic::catch_unwind(|| panic!("a body's own panic"));
    assert!(caught.is_err());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let before = Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(before.elapsed() >= Duration::from_millis(5));
        assert_eq!(tokio::task::spawn_blocking(|| 3).await.expect("it ran"), 3);
    });
}

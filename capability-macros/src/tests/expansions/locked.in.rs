/// Opens the front door.
#[capability(name = "door.open", version = 1, side_effect = mutating, network = local, locked)]
async fn open(door: Door, minutes: Option<u32>) -> Result<(), Failure>;

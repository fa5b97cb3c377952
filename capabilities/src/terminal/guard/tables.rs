//! What is known of commands, one line each. What is not here is not known, and what is not known is `high`.

/// What the operands of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// There are none.
    None,
    /// Words that name nothing.
    Texts,
    /// Files inside the workspace that are read.
    Files,
    /// At most one such file.
    OneFile,
    /// A pattern, unless an option gives one, and such files.
    PatternAndFiles,
    /// Line numbers to print, and such files.
    LinesAndFiles,
    /// A format for a date.
    Format,
    /// Revisions and such files.
    Revisions,
    /// Names, where this option stands too.
    NamesWith(&'static str),
    /// Exactly this word.
    Word(&'static str),
}

/// A command that only looks, with the options under which it still does.
pub(super) struct Low {
    /// One word, or for `git` two.
    pub(super) name: &'static str,
    /// Options without a value. Those of one letter may stand together.
    pub(super) flags: &'static str,
    /// Options with a value that is no file: `-n 5`, `-n5`, `--lines=5`.
    pub(super) values: &'static str,
    pub(super) operands: Operands,
}

macro_rules! low {
    ($($name:literal: $flags:literal, $values:literal, $operands:expr;)+) => {
        /// All of them, sorted by name.
        pub(super) const LOW: &[Low] =
            &[$(Low { name: $name, flags: $flags, values: $values, operands: $operands }),+];
    };
}

use Operands::{
    Files, Format, LinesAndFiles, NamesWith, None as NoOperands, OneFile, PatternAndFiles, Revisions, Texts, Word,
};

// name: options without a value, options with one, operands.
low! {
    "basename": "-a -z", "-s", Texts;
    "cat": "-n -b -s -A -E -T -v -e -t -u --number --squeeze-blank --show-all", "", Files;
    "cmp": "-s -l -b --silent --quiet", "-n", Files;
    "cut": "-s -n --complement --only-delimited", "-d -f -c -b --delimiter --fields", Files;
    "date": "-u -R -I --utc --rfc-email --iso-8601", "", Format;
    "df": "-h -k -T -i -a -P --human-readable", "", Files;
    "diff": "-u -q -w -b -i -y -s -B --brief --unified --side-by-side", "-U", Files;
    "dirname": "-z", "", Texts;
    "du": "-s -h -a -c -k -m -b --summarize --human-readable", "-d --max-depth", Files;
    "echo": "-n -e -E", "", Texts;
    "egrep": "-n -i -v -c -l -L -w -x -o -h -H -s -q", "-m -A -B -C -e", PatternAndFiles;
    "false": "", "", NoOperands;
    "fgrep": "-n -i -v -c -l -L -w -x -o -h -H -s -q", "-m -A -B -C -e", PatternAndFiles;
    "file": "-b -i -h --brief --mime --mime-type --mime-encoding", "", Files;
    "git blame": "-w -s -e -l -t", "-L", Revisions;
    "git branch": "-a -r -v -vv --all --remotes --list --show-current --no-color", "", NamesWith("--list");
    "git count-objects": "-v -H", "", NoOperands;
    "git describe": "--tags --always --dirty --long --all", "--abbrev --match", Revisions;
    "git diff": "-w -b -u -p -M -C -R -z --check --stat --cached --staged --name-only --name-status --shortstat --numstat --summary --no-color --word-diff --no-ext-diff --no-textconv --minimal --patience --histogram --raw --quiet --exit-code", "-U --unified --diff-filter --stat-width", Revisions;
    "git grep": "-n -i -l -L -c -w -E -F -P -v -o -h -q --line-number --ignore-case --files-with-matches --count", "-e -A -B -C -m", PatternAndFiles;
    "git log": "-p -u -z -w --oneline --stat --graph --all --decorate --no-decorate --name-only --name-status --no-merges --merges --reverse --follow --shortstat --numstat --no-color --no-ext-diff --no-textconv --first-parent --patch", "-n -S -G --max-count --author --since --until --after --before --grep --skip --date --abbrev", Revisions;
    "git ls-files": "-c -d -m -o -s -t -u -k -z --stage --others --exclude-standard --cached --deleted --modified --unmerged", "", Files;
    "git ls-tree": "-r -d -l -t -z --name-only --name-status --full-tree", "", Revisions;
    "git merge-base": "-a --all --is-ancestor", "", Revisions;
    "git remote": "-v --verbose", "", NoOperands;
    "git rev-list": "--count --all --reverse --no-merges", "-n --max-count --since --until", Revisions;
    "git rev-parse": "--show-toplevel --abbrev-ref --short --verify --git-dir --is-inside-work-tree --show-prefix -q", "", Revisions;
    "git shortlog": "-s -n -e", "", Revisions;
    "git show": "-p -u -s -w --stat --name-only --name-status --oneline --shortstat --numstat --no-color --no-patch --no-ext-diff --no-textconv", "--date --abbrev -U", Revisions;
    "git stash": "", "", Word("list");
    "git status": "-s -b -v -z --short --branch --porcelain --long --verbose --ignored --show-stash", "-u --untracked-files", Files;
    "git tag": "-l --list", "--sort -n", NamesWith("--list");
    "git worktree": "--porcelain -v", "", Word("list");
    "grep": "-n -i -v -c -l -L -w -x -E -F -G -P -o -h -H -s -q --line-number --ignore-case --count --files-with-matches", "-m -A -B -C -e --regexp --context --max-count", PatternAndFiles;
    "head": "-q -v -z --quiet --verbose", "-n -c --lines --bytes", Files;
    "id": "-u -g -G -n -r", "", NoOperands;
    "ls": "-l -a -A -h -1 -r -t -S -d -F -s -i -n -o -g -p -Q -U -X -x -C -m --all --almost-all --human-readable --reverse --directory", "--color --sort --time-style", Files;
    "md5sum": "-b -t -z --tag", "", Files;
    "nproc": "--all", "--ignore", NoOperands;
    "printf": "", "", Texts;
    "pwd": "-L -P", "", NoOperands;
    "rg": "-n -i -S -s -w -x -c -l -v -F -o -N -H -I -U --no-heading --heading --column --line-number --count --files-with-matches --fixed-strings --ignore-case --smart-case", "-A -B -C -m -t -T -e --context --max-count --type --type-not --regexp --color --sort", PatternAndFiles;
    "sed": "-n -E -r -s --quiet --silent --regexp-extended", "", LinesAndFiles;
    "seq": "-w", "-s -f", Texts;
    "sha1sum": "-b -t -z --tag", "", Files;
    "sha256sum": "-b -t -z --tag", "", Files;
    "sleep": "", "", Texts;
    "sort": "-n -r -u -f -b -d -h -V -s -c -C -M -g -i -z --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort --check", "-k -t --key --field-separator", Files;
    "stat": "-t -L -f --terse", "-c --format --printf", Files;
    "tac": "-b -r", "-s", Files;
    "tail": "-q -v -z --quiet --verbose", "-n -c --lines --bytes", Files;
    "tr": "-d -s -c -C -t --delete --squeeze-repeats --complement", "", Texts;
    "tree": "-d -f -i -h -s -D -p -u -g -C -n --noreport --dirsfirst", "-L", Files;
    "true": "", "", NoOperands;
    "uname": "-a -s -r -m -n -v -p -i -o", "", NoOperands;
    "uniq": "-c -d -u -i -z -D --count --repeated --unique --ignore-case", "-f -s -w --skip-fields --skip-chars --check-chars", OneFile;
    "uptime": "-p -s", "", NoOperands;
    "wc": "-l -w -c -m -L --lines --words --bytes --chars", "", Files;
    "which": "-a", "", Texts;
    "whoami": "", "", NoOperands;
}

/// Whether it is the name of one that only looks, but for `git`.
pub(super) fn is_listed_low(name: &str) -> bool {
    LOW.iter().any(|row| row.name == name)
}

/// Tests and actions of `find` that only look, and whether each takes a value.
pub(super) const FIND: &[(&str, bool)] = &[
    ("!", false),
    ("(", false),
    (")", false),
    ("-a", false),
    ("-and", false),
    ("-depth", false),
    ("-empty", false),
    ("-executable", false),
    ("-iname", true),
    ("-links", true),
    ("-maxdepth", true),
    ("-mindepth", true),
    ("-mmin", true),
    ("-mount", false),
    ("-mtime", true),
    ("-name", true),
    ("-not", false),
    ("-o", false),
    ("-or", false),
    ("-path", true),
    ("-perm", true),
    ("-print", false),
    ("-print0", false),
    ("-prune", false),
    ("-size", true),
    ("-type", true),
    ("-xdev", false),
];

/// A command that runs another one which it is given.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Its options without a value.
    pub(super) flags: &'static str,
    /// Its options with one.
    pub(super) values: &'static str,
    /// How many words stand before the other command.
    pub(super) before: usize,
    /// Whether what follows is handed to a shell.
    pub(super) shell: bool,
}

macro_rules! wrappers {
    ($($name:literal: $flags:literal, $values:literal, $before:literal, $shell:literal;)+) => {
        pub(super) const WRAPPERS: &[Wrapper] =
            &[$(Wrapper { name: $name, flags: $flags, values: $values, before: $before, shell: $shell }),+];
    };
}

// name: options without a value, options with one, words before the command, whether a shell reads it.
wrappers! {
    "ash": "-e -u -x -l", "", 0, true;
    "bash": "-e -u -x -l -i --login --norc --noprofile --posix", "-o -O --rcfile --init-file", 0, true;
    "builtin": "", "", 0, false;
    "busybox": "", "", 0, false;
    "catchsegv": "", "", 0, false;
    "chpst": "-0 -1 -2", "-u -U -b -e -n -l -L -m -d -o -p -f -c -r -t", 0, false;
    "chroot": "--skip-chdir", "--userspec --groups", 1, false;
    "chrt": "-b -f -i -o -r -a -R", "-T -P -D", 1, false;
    "command": "-p -v -V", "", 0, false;
    "csh": "-e -f", "", 0, true;
    "dash": "-e -u -x -l", "", 0, true;
    "doas": "-n -s", "-u -C", 0, false;
    "env": "-i -0 -v --ignore-environment --null --debug", "-u -C --unset --chdir", 0, false;
    "eval": "", "", 0, true;
    "exec": "-c -l", "-a", 0, false;
    "faketime": "-m", "-f", 1, false;
    "fakeroot": "", "-s -i -l", 0, false;
    "fish": "", "", 0, true;
    "flock": "-s -x -n -u -o -F", "-w -E", 1, false;
    "gosu": "", "", 1, false;
    "ionice": "-t", "-c -n -p", 0, false;
    "ksh": "-e -u -x", "", 0, true;
    "ltrace": "-f -c -S", "-e -o -p -s", 0, false;
    "nice": "", "-n --adjustment", 0, false;
    "nohup": "", "", 0, false;
    "nsenter": "-m -u -i -n -p -U -a", "-t -S -G", 0, false;
    "numactl": "", "-N -m -C", 0, false;
    "parallel": "-k -u -m -X --will-cite", "-j -I -a -n -N", 0, true;
    "pkexec": "", "--user", 0, false;
    "prlimit": "", "", 0, false;
    "proxychains": "-q", "-f", 0, false;
    "proxychains4": "-q", "-f", 0, false;
    "rlwrap": "", "", 0, false;
    "runuser": "-l -m -p", "-u -g -G -s", 0, true;
    "rbash": "-e -u -x", "", 0, true;
    "script": "-q -a -f -e", "-c -O -I -T --command", 0, true;
    "setarch": "-R", "", 1, false;
    "setpriv": "--no-new-privs --clear-groups", "--reuid --regid", 0, false;
    "setsid": "-c -f -w --ctty --fork --wait", "", 0, false;
    "sg": "", "", 1, true;
    "sh": "-e -u -x -l", "-o", 0, true;
    "ssh": "-n -q -t -T -v -x -X -A -4 -6", "-p -l -i -o -F -J -L -R -D", 1, true;
    "start-stop-daemon": "", "", 0, false;
    "stdbuf": "", "-i -o -e --input --output --error", 0, false;
    "strace": "-f -ff -c -t -tt -v -y", "-e -o -p -s -u", 0, false;
    "su": "- -l -m -p", "-c -s -g -G --command --shell", 1, true;
    "sudo": "-n -E -H -i -k -S -b -s -A", "-u -g -p -h -C -r -t -T -U -D -R", 0, false;
    "systemd-run": "", "", 0, false;
    "taskset": "-a", "", 1, false;
    "tcsh": "-e -f", "", 0, true;
    "time": "-p -v -a", "-f -o", 0, false;
    "timeout": "-v --foreground --preserve-status --verbose", "-s -k --signal --kill-after", 1, false;
    "toybox": "", "", 0, false;
    "trap": "", "", 0, true;
    "unshare": "-m -u -i -n -p -U -r -f", "", 0, false;
    "valgrind": "-q -v", "", 0, false;
    "watch": "-t -d -b -e -g -c -x", "-n --interval", 0, true;
    "xargs": "-0 -r -t -p -x --null --no-run-if-empty", "-n -I -P -d -L -s -a -E --max-args --max-procs --delimiter", 0, false;
    "zsh": "-e -u -x -l -f", "-o", 0, true;
}

/// Commands that are never run, whatever their arguments.
pub(super) const NEVER: &[&str] = &[
    "blkdiscard",
    "cfdisk",
    "cryptsetup",
    "fdisk",
    "gdisk",
    "halt",
    "kexec",
    "mkswap",
    "parted",
    "poweroff",
    "reboot",
    "sfdisk",
    "sgdisk",
    "shutdown",
    "telinit",
    "wipefs",
];

/// Words after which `systemctl` and `loginctl` end the machine.
pub(super) const ENDS_MACHINE: &[&str] =
    &["reboot", "poweroff", "halt", "kexec", "soft-reboot", "rescue", "emergency", "suspend", "hibernate", "exit"];

/// Commands that write to what they name, and whether only the last of their operands is written.
pub(super) const WRITERS: &[(&str, bool)] = &[
    ("chgrp", false),
    ("chmod", false),
    ("chown", false),
    ("cp", true),
    ("install", true),
    ("ln", true),
    ("mkdir", false),
    ("mkfifo", false),
    ("mv", false),
    ("rm", false),
    ("rmdir", false),
    ("rsync", true),
    ("shred", false),
    ("tee", false),
    ("touch", false),
    ("truncate", false),
    ("unlink", false),
];

/// Options by which commands write to the file that follows.
pub(super) const WRITING_OPTIONS: &[&str] =
    &["--output", "--output-file", "--outfile", "-fprint", "-fprint0", "-fprintf", "-fls", "--output-directory"];

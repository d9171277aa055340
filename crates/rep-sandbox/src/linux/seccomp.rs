//! The seccomp filter: allows the listed system calls and rejects all others.
//!
//! Assembled by hand for x86-64. A call from another architecture kills the process, because its numbers have other
//! meanings. Unlisted calls fail with `ENOSYS`, so that programs use fallbacks.

use libc::sock_filter;

const ARCHITECTURE: u32 = 0xC000_003E;
/// Numbers from here on are x32 system calls.
const X32_BIT: u32 = 0x4000_0000;
const SET_ID_BITS: u32 = 0o6000;
/// The mode bit that lets every user of the machine write.
const OTHERS_WRITE_BIT: u32 = 0o002;
const SOCKET_TYPE: u32 = 0xf;

/// All `clone` flags that create a namespace.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

const TERMINAL_INJECTION: [u32; 3] = [0x5412, 0x541c, 0x541d];

/// Builds an instruction. Jumps are relative to the next one.
#[expect(clippy::cast_possible_truncation, reason = "instruction codes have 16 bits")]
const fn build_statement(code: u32, operand: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: operand }
}

#[expect(clippy::cast_possible_truncation, reason = "instruction codes have 16 bits")]
const fn build_jump(test: u32, operand: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: then, jf: otherwise, k: operand }
}

const fn load_word(offset: u32) -> sock_filter {
    build_statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

/// Loads the low half of an argument. The kernel uses no more for 32-bit arguments.
const fn load_argument(number: u32) -> sock_filter {
    load_word(16 + 8 * number)
}

const fn return_action(value: u32) -> sock_filter {
    build_statement(libc::BPF_RET | libc::BPF_K, value)
}

const ALLOW: sock_filter = return_action(libc::SECCOMP_RET_ALLOW);
const ASK: sock_filter = return_action(libc::SECCOMP_RET_USER_NOTIF);
const KILL: sock_filter = return_action(libc::SECCOMP_RET_KILL_PROCESS);

const fn return_errno(number: i32) -> sock_filter {
    return_action(libc::SECCOMP_RET_ERRNO | number.cast_unsigned())
}

/// The rule for a system call: its number, and instructions that end with a return.
type SyscallRule = (u32, Vec<sock_filter>);

/// What a filter depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterOptions {
    pub(super) allow_subprocess: bool,
    pub(super) has_network: bool,
    /// Whether calls with a path are announced to the init process before they continue, so that it can report denials.
    pub(super) observes_paths: bool,
}

/// Builds the complete filter.
pub(super) fn build_filter(options: FilterOptions) -> Vec<sock_filter> {
    let mut program = vec![
        load_word(4),
        build_jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
        KILL,
        load_word(0),
        build_jump(libc::BPF_JGE, X32_BIT, 0, 1),
        KILL,
    ];
    program.extend(build_search(&build_rules(options)));
    program
}

/// Builds all rules, sorted by number, one per system call.
fn build_rules(options: FilterOptions) -> Vec<SyscallRule> {
    let path_verdict = if options.observes_paths { ASK } else { ALLOW };
    let mut rules: Vec<(i64, Vec<sock_filter>)> = ALLOWED_CALLS.iter().map(|call| (*call, vec![ALLOW])).collect();
    rules.extend(REFUSED_CALLS.iter().map(|call| (*call, vec![return_errno(libc::EPERM)])));
    rules.extend(PATH_CALLS.iter().map(|call| (*call, vec![path_verdict])));
    rules.extend(build_file_rules(path_verdict));
    rules.extend(build_effect_rules(path_verdict));
    rules.extend(build_lookup_rules(path_verdict));
    rules.extend(build_process_rules(options.allow_subprocess));
    rules.extend(build_socket_rules(options.has_network));
    let mut numbered: Vec<SyscallRule> = rules
        .into_iter()
        .map(|(call, body)| (u32::try_from(call).expect("numbers of calls are small"), body))
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
}

/// Builds a binary search for the rule of a call: the kernel evaluates the filter for every number when installing it.
fn build_search(rules: &[SyscallRule]) -> Vec<sock_filter> {
    const FEW: usize = 4;
    if rules.len() <= FEW {
        let mut program = Vec::new();
        for (number, body) in rules {
            let length = u8::try_from(body.len()).expect("a rule has a handful of instructions");
            program.push(build_jump(libc::BPF_JEQ, *number, 0, length));
            program.extend(body);
        }
        program.push(return_errno(libc::ENOSYS));
        return program;
    }
    let (low, high) = rules.split_at(rules.len() / 2);
    let (first_high, low, high) = (high[0].0, build_search(low), build_search(high));
    let over = u32::try_from(low.len()).expect("programs are short");
    let mut program =
        vec![build_jump(libc::BPF_JGE, first_high, 0, 1), build_statement(libc::BPF_JMP | libc::BPF_JA, over)];
    program.extend(low);
    program.extend(high);
    program
}

/// Builds rules for looking up a path. A path relative to an open directory is not announced: programs take these from
/// the list of the directory, so that the files are visible.
fn build_lookup_rules(path_verdict: sock_filter) -> Vec<(i64, Vec<sock_filter>)> {
    let from_working_folder =
        vec![load_argument(0), build_jump(libc::BPF_JEQ, libc::AT_FDCWD.cast_unsigned(), 1, 0), ALLOW, path_verdict];
    [libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_faccessat, libc::SYS_faccessat2]
        .map(|call| (call, from_working_folder.clone()))
        .to_vec()
}

/// Builds rules that prevent creating set-user-ID and set-group-ID files and devices, and making files writable for
/// all users. A new file gets its mode from the umask, which always retains the bit for them.
fn build_file_rules(path_verdict: sock_filter) -> Vec<(i64, Vec<sock_filter>)> {
    let mode_without = |bits: u32, at: u32, verdict: sock_filter| {
        vec![load_argument(at), build_jump(libc::BPF_JSET, bits, 0, 1), return_errno(libc::EPERM), verdict]
    };
    let mode = |at: u32| mode_without(SET_ID_BITS, at, path_verdict);
    let changed_mode = |at: u32, verdict: sock_filter| mode_without(SET_ID_BITS | OTHERS_WRITE_BIT, at, verdict);
    let node = |at: u32| {
        let mut body = vec![
            load_argument(at),
            build_statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, libc::S_IFMT),
            build_jump(libc::BPF_JEQ, libc::S_IFCHR, 1, 0),
            build_jump(libc::BPF_JEQ, libc::S_IFBLK, 0, 1),
            return_errno(libc::EPERM),
        ];
        body.extend(mode(at));
        body
    };
    let opening = |flags: u32, at: u32, from_folder: &[sock_filter]| {
        let makes = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned();
        let writes = (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC).cast_unsigned();
        let over = u8::try_from(from_folder.len() + 2).expect("a handful of instructions");
        let mut body = vec![
            load_argument(flags),
            build_jump(libc::BPF_JSET, makes, over, 0),
            build_jump(libc::BPF_JSET, writes, over - 2, 0),
        ];
        body.extend(from_folder);
        body.push(path_verdict);
        body.extend(mode(at));
        body
    };
    let is_from_working_folder =
        [load_argument(0), build_jump(libc::BPF_JEQ, libc::AT_FDCWD.cast_unsigned(), 1, 0), ALLOW];
    vec![
        (libc::SYS_open, opening(1, 2, &[])),
        (libc::SYS_openat, opening(2, 3, &is_from_working_folder)),
        (libc::SYS_creat, mode(1)),
        (libc::SYS_chmod, changed_mode(1, path_verdict)),
        (libc::SYS_fchmod, changed_mode(1, ALLOW)),
        (libc::SYS_fchmodat, changed_mode(2, path_verdict)),
        (SYS_FCHMODAT2, changed_mode(2, path_verdict)),
        // The init process answers other masks with the current one, and leaves it as it is: programs read the mask by
        // setting it, so that the call must not fail.
        (libc::SYS_umask, vec![load_argument(0), build_jump(libc::BPF_JSET, OTHERS_WRITE_BIT, 0, 1), ALLOW, ASK]),
        // Access control lists could make files writable for others, and directories even the files that their owner
        // adds later. The name of an attribute is not visible here, so no attribute can be set.
        (libc::SYS_setxattr, vec![return_errno(libc::EOPNOTSUPP)]),
        (libc::SYS_lsetxattr, vec![return_errno(libc::EOPNOTSUPP)]),
        (libc::SYS_fsetxattr, vec![return_errno(libc::EOPNOTSUPP)]),
        (libc::SYS_mkdir, mode(1)),
        (libc::SYS_mkdirat, mode(2)),
        (libc::SYS_mknod, node(1)),
        (libc::SYS_mknodat, node(2)),
    ]
}

/// Builds rules that prevent effects on other processes and on this filter.
fn build_effect_rules(path_verdict: sock_filter) -> Vec<(i64, Vec<sock_filter>)> {
    let mut injection = vec![load_argument(1)];
    injection
        .extend(TERMINAL_INJECTION.iter().zip([3, 2, 1]).map(|(call, over)| build_jump(libc::BPF_JEQ, *call, over, 0)));
    injection.extend([ALLOW, return_errno(libc::EPERM)]);
    vec![
        (libc::SYS_ioctl, injection),
        // A whiteout is a character device, which the kernel creates without asking any other rule.
        (
            libc::SYS_renameat2,
            vec![
                load_argument(4),
                build_jump(libc::BPF_JSET, libc::RENAME_WHITEOUT, 0, 1),
                return_errno(libc::EPERM),
                path_verdict,
            ],
        ),
        // A lease on a file would make other processes wait when they open it. Notifications about a directory tell
        // what other processes do in it. Locks of open files belong to no process, so they cannot be counted; older
        // kernels do not have them either.
        (
            libc::SYS_fcntl,
            vec![
                load_argument(1),
                build_jump(libc::BPF_JEQ, libc::F_SETLEASE.cast_unsigned(), 1, 0),
                build_jump(libc::BPF_JEQ, libc::F_NOTIFY.cast_unsigned(), 0, 1),
                return_errno(libc::EPERM),
                build_jump(libc::BPF_JEQ, libc::F_OFD_SETLK.cast_unsigned(), 1, 0),
                build_jump(libc::BPF_JEQ, libc::F_OFD_SETLKW.cast_unsigned(), 0, 1),
                return_errno(libc::EINVAL),
                ALLOW,
            ],
        ),
        // A seccomp filter installed by the tool could override this one.
        (
            libc::SYS_prctl,
            vec![
                load_argument(0),
                build_jump(libc::BPF_JEQ, libc::PR_SET_SECCOMP.cast_unsigned(), 0, 1),
                return_errno(libc::EPERM),
                ALLOW,
            ],
        ),
        (
            libc::SYS_personality,
            vec![
                load_argument(0),
                build_jump(libc::BPF_JEQ, 0, 2, 0),
                build_jump(libc::BPF_JEQ, u32::MAX, 1, 0),
                return_errno(libc::EPERM),
                ALLOW,
            ],
        ),
    ]
}

/// Allows threads always, processes if declared, and namespaces never.
fn build_process_rules(allow_subprocess: bool) -> Vec<(i64, Vec<sock_filter>)> {
    let verdict = if allow_subprocess { ALLOW } else { ASK };
    let clone = vec![
        load_argument(0),
        build_jump(libc::BPF_JSET, NAMESPACES, 0, 1),
        return_errno(libc::EPERM),
        build_jump(libc::BPF_JSET, libc::CLONE_THREAD.cast_unsigned(), 0, 1),
        ALLOW,
        verdict,
    ];
    vec![
        (libc::SYS_clone, clone),
        (libc::SYS_fork, vec![verdict]),
        (libc::SYS_vfork, vec![verdict]),
        (libc::SYS_execve, vec![verdict]),
        (libc::SYS_execveat, vec![return_errno(libc::EPERM)]),
    ]
}

fn build_socket_rules(has_network: bool) -> Vec<(i64, Vec<sock_filter>)> {
    // Datagram pairs can send to any socket with a path, so only stream pairs are allowed.
    let pair = vec![
        load_argument(0),
        build_jump(libc::BPF_JEQ, libc::AF_UNIX.cast_unsigned(), 0, 4),
        load_argument(1),
        build_statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
        build_jump(libc::BPF_JEQ, libc::SOCK_STREAM.cast_unsigned(), 0, 1),
        ALLOW,
        return_errno(libc::EACCES),
    ];
    let (inet, inet6) = (libc::AF_INET.cast_unsigned(), libc::AF_INET6.cast_unsigned());
    let socket = if has_network {
        vec![
            load_argument(0),
            build_jump(libc::BPF_JEQ, inet, 5, 0),
            build_jump(libc::BPF_JEQ, inet6, 4, 0),
            build_jump(libc::BPF_JEQ, libc::AF_NETLINK.cast_unsigned(), 0, 7),
            load_argument(2),
            build_jump(libc::BPF_JEQ, libc::NETLINK_ROUTE.cast_unsigned(), 0, 5),
            ALLOW,
            load_argument(1),
            build_statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
            build_jump(libc::BPF_JEQ, libc::SOCK_STREAM.cast_unsigned(), 2, 0),
            build_jump(libc::BPF_JEQ, libc::SOCK_DGRAM.cast_unsigned(), 1, 0),
            return_errno(libc::EACCES),
            // Only the default protocol, TCP and UDP. Others expose rarely reviewed kernel code.
            load_argument(2),
            build_jump(libc::BPF_JEQ, 0, 3, 0),
            build_jump(libc::BPF_JEQ, libc::IPPROTO_TCP.cast_unsigned(), 2, 0),
            build_jump(libc::BPF_JEQ, libc::IPPROTO_UDP.cast_unsigned(), 1, 0),
            return_errno(libc::EACCES),
            ALLOW,
        ]
    } else {
        // The init process answers with a placeholder, to learn and report the address of a connection. The C library
        // tries other families for its own purposes.
        vec![
            load_argument(0),
            build_jump(libc::BPF_JEQ, inet, 2, 0),
            build_jump(libc::BPF_JEQ, inet6, 1, 0),
            return_errno(libc::EACCES),
            load_argument(1),
            build_statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
            build_jump(libc::BPF_JEQ, libc::SOCK_STREAM.cast_unsigned(), 2, 0),
            build_jump(libc::BPF_JEQ, libc::SOCK_DGRAM.cast_unsigned(), 1, 0),
            return_errno(libc::EACCES),
            load_argument(2),
            build_jump(libc::BPF_JEQ, 0, 3, 0),
            build_jump(libc::BPF_JEQ, libc::IPPROTO_TCP.cast_unsigned(), 2, 0),
            build_jump(libc::BPF_JEQ, libc::IPPROTO_UDP.cast_unsigned(), 1, 0),
            return_errno(libc::EACCES),
            ASK,
        ]
    };
    let verdict = if has_network { ALLOW } else { return_errno(libc::EACCES) };
    // Not `sendmsg`: the process that installs this filter uses it to pass on the listener.
    let sending = if has_network { ALLOW } else { ASK };
    let mut rules = vec![
        (libc::SYS_socket, socket),
        (libc::SYS_socketpair, pair),
        (libc::SYS_setsockopt, build_socket_option_rule(has_network)),
        (libc::SYS_connect, vec![ASK]),
        (libc::SYS_sendto, vec![sending]),
        (libc::SYS_sendmmsg, vec![sending]),
    ];
    let others = [libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];
    rules.extend(others.map(|call| (call, vec![verdict])));
    rules
}

/// Builds the `setsockopt` rule. Socket buffers are not charged to a process, so their size must not change. The
/// request is only a hint, so it succeeds without effect, and programs that tune their connections continue. Without
/// network access, options of protocols have no effect either: programs set them before they connect.
fn build_socket_option_rule(has_network: bool) -> Vec<sock_filter> {
    if !has_network {
        let level = libc::SOL_SOCKET.cast_unsigned();
        let mut rule = vec![load_argument(1), build_jump(libc::BPF_JEQ, level, 1, 0), return_errno(0)];
        rule.extend(build_socket_option_rule(true));
        return rule;
    }
    vec![
        load_argument(1),
        build_jump(libc::BPF_JEQ, libc::SOL_SOCKET.cast_unsigned(), 0, 5),
        load_argument(2),
        build_jump(libc::BPF_JEQ, libc::SO_SNDBUF.cast_unsigned(), 4, 0),
        build_jump(libc::BPF_JEQ, libc::SO_RCVBUF.cast_unsigned(), 3, 0),
        build_jump(libc::BPF_JEQ, libc::SO_SNDBUFFORCE.cast_unsigned(), 2, 0),
        build_jump(libc::BPF_JEQ, libc::SO_RCVBUFFORCE.cast_unsigned(), 1, 0),
        ALLOW,
        return_errno(0),
    ]
}

pub(super) const SYS_FCHMODAT2: i64 = 452;

/// Calls that fail with `EPERM`, so that programs see that they are denied on purpose.
const REFUSED_CALLS: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_seccomp,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_fanotify_init,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_iopl,
    libc::SYS_ioperm,
];

/// Calls with a path that are allowed with any arguments, and announced if the filter observes paths.
const PATH_CALLS: &[i64] = &[
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_chdir,
    libc::SYS_truncate,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_utimensat,
    libc::SYS_futimesat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
];

/// Calls that are allowed with any arguments.
///
/// inotify is not one of them: watches on visible directories of the system tell which programs other users start, and
/// its instances are counted per user of the machine. Programs fall back to polling.
const ALLOWED_CALLS: &[i64] = &[
    // Reading, writing and inspecting files.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_copy_file_range,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_fchdir,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_close_range,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    // Changing directory entries.
    libc::SYS_fchown,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_fremovexattr,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_brk,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_madvise,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_remap_file_pages,
    libc::SYS_pkey_mprotect,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_membarrier,
    // Waiting.
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_create,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd,
    libc::SYS_eventfd2,
    libc::SYS_signalfd,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_pause,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_pipe,
    libc::SYS_pipe2,
    libc::SYS_futex,
    // Signals and timers.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_alarm,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_restart_syscall,
    // Processes, threads and their identity.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_getpgrp,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_arch_prctl,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_prlimit64,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_sched_yield,
    libc::SYS_sched_setparam,
    libc::SYS_sched_getparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_getattr,
    libc::SYS_getcpu,
    // The machine and its clock.
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_time,
    libc::SYS_gettimeofday,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_getrandom,
    // Operations on existing sockets; creating one is a separate rule.
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_recvmmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    // futex_waitv, which the crate does not define on every target.
    449,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Evaluates a filter as the kernel would.
    fn evaluate_filter(program: &[sock_filter], machine: u32, number: u32, arguments: [u32; 6]) -> u32 {
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            let code = u32::from(code);
            at += 1;
            let goes = match (code & 0x07, code & 0xf0) {
                (libc::BPF_RET, _) => return k,
                (libc::BPF_LD, _) => {
                    value = match k {
                        0 => number,
                        4 => machine,
                        low => arguments[(low as usize - 16) / 8],
                    };
                    continue;
                }
                (libc::BPF_ALU, libc::BPF_AND) => {
                    value &= k;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JA) => {
                    at += k as usize;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JEQ) => value == k,
                (libc::BPF_JMP, libc::BPF_JGE) => value >= k,
                (libc::BPF_JMP, libc::BPF_JSET) => value & k != 0,
                other => panic!("{other:?}"),
            };
            at += usize::from(if goes { jt } else { jf });
        }
    }

    #[test]
    fn every_call_finds_its_rule_and_no_other() {
        for bits in 0..8 {
            let options = FilterOptions {
                allow_subprocess: bits & 1 != 0,
                has_network: bits & 2 != 0,
                observes_paths: bits & 4 != 0,
            };
            let (program, rules) = (build_filter(options), build_rules(options));
            assert!(rules.windows(2).all(|pair| pair[0].0 < pair[1].0), "two rules for one call");
            for number in (0..1024).chain([X32_BIT - 1]) {
                let rule = rules.iter().find(|(known, _)| *known == number);
                for bits in [0, 1, 2, 0o100, 0o4755, 0x5412, 0x1000_0000, u32::MAX] {
                    for at in 0..6 {
                        let mut arguments = [0; 6];
                        arguments[at] = bits;
                        let wanted = rule.map_or(return_errno(libc::ENOSYS).k, |(_, body)| {
                            evaluate_filter(body, ARCHITECTURE, number, arguments)
                        });
                        let found = evaluate_filter(&program, ARCHITECTURE, number, arguments);
                        assert_eq!(found, wanted, "call {number}, {arguments:?}");
                    }
                }
            }
            for number in [X32_BIT, X32_BIT | 1, u32::MAX] {
                assert_eq!(evaluate_filter(&program, ARCHITECTURE, number, [0; 6]), KILL.k, "{number:x}");
            }
            assert_eq!(evaluate_filter(&program, 0x4000_0003, 1, [0; 6]), KILL.k);
            assert_eq!(evaluate_filter(&program, ARCHITECTURE, 1, [0; 6]), ALLOW.k);
        }
    }
}

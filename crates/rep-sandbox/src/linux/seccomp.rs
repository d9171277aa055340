//! Which system calls a tool may make: a list of those that are allowed, and no for all the rest.
//!
//! Assembled by hand for x86-64. A call of another architecture kills the process: its numbers mean other things.
//! Calls the list does not know answer as if the kernel did not know them, so that programs fall back.

use libc::sock_filter;

/// Whether there is a list for this machine.
pub(super) const IS_KNOWN_MACHINE: bool = cfg!(target_arch = "x86_64");

const ARCHITECTURE: u32 = 0xC000_003E;
/// From here on numbers mean the x32 flavour.
const X32: u32 = 0x4000_0000;
const SET_ID_BITS: u32 = 0o6000;
const SOCKET_TYPE: u32 = 0xf;

/// All flags of `clone` that make a namespace.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

const TERMINAL_INJECTION: [u32; 3] = [0x5412, 0x541c, 0x541d];

/// One instruction, with jumps counted from the next one.
#[expect(clippy::cast_possible_truncation, reason = "all codes of instructions have 16 bits")]
const fn statement(code: u32, operand: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: operand }
}

#[expect(clippy::cast_possible_truncation, reason = "all codes of instructions have 16 bits")]
const fn jump(test: u32, operand: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: then, jf: otherwise, k: operand }
}

const fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

/// The low half of an argument: the kernel looks at no more where 32 bits are compared.
const fn argument(number: u32) -> sock_filter {
    load(16 + 8 * number)
}

const fn answer(value: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, value)
}

const ALLOW: sock_filter = answer(libc::SECCOMP_RET_ALLOW);
const ASK: sock_filter = answer(libc::SECCOMP_RET_USER_NOTIF);
const KILL: sock_filter = answer(libc::SECCOMP_RET_KILL_PROCESS);

const fn refuse(number: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | number.cast_unsigned())
}

/// What is done about one call: its number, and instructions that end with an answer.
type Rule = (u32, Vec<sock_filter>);

/// The whole program.
pub(super) fn filter(allow_subprocess: bool, has_network: bool) -> Vec<sock_filter> {
    let mut program =
        vec![load(4), jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0), KILL, load(0), jump(libc::BPF_JGE, X32, 0, 1), KILL];
    program.extend(search(&rules(allow_subprocess, has_network)));
    program
}

/// All rules by number, one for each call.
fn rules(allow_subprocess: bool, has_network: bool) -> Vec<Rule> {
    let mut rules: Vec<(i64, Vec<sock_filter>)> = ALLOWED.iter().map(|call| (*call, vec![ALLOW])).collect();
    rules.extend(REFUSED.iter().map(|call| (*call, vec![refuse(libc::EPERM)])));
    rules.extend(files());
    rules.extend(processes(allow_subprocess));
    rules.extend(sockets(has_network));
    let mut numbered: Vec<Rule> = rules
        .into_iter()
        .map(|(call, body)| (u32::try_from(call).expect("numbers of calls are small"), body))
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
}

/// Finds the rule of a call by halves: the kernel tries the program on every number there is before it installs it.
fn search(rules: &[Rule]) -> Vec<sock_filter> {
    const FEW: usize = 4;
    if rules.len() <= FEW {
        let mut program = Vec::new();
        for (number, body) in rules {
            let length = u8::try_from(body.len()).expect("a rule has a handful of instructions");
            program.push(jump(libc::BPF_JEQ, *number, 0, length));
            program.extend(body);
        }
        program.push(refuse(libc::ENOSYS));
        return program;
    }
    let (low, high) = rules.split_at(rules.len() / 2);
    let (first_high, low, high) = (high[0].0, search(low), search(high));
    let over = u32::try_from(low.len()).expect("programs are short");
    let mut program = vec![jump(libc::BPF_JGE, first_high, 0, 1), statement(libc::BPF_JMP | libc::BPF_JA, over)];
    program.extend(low);
    program.extend(high);
    program
}

/// Nobody gets a file that runs as somebody else.
fn files() -> Vec<(i64, Vec<sock_filter>)> {
    let mode = |at: u32| vec![argument(at), jump(libc::BPF_JSET, SET_ID_BITS, 0, 1), refuse(libc::EPERM), ALLOW];
    let opening = |flags: u32, at: u32| {
        let makes = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned();
        let mut body = vec![argument(flags), jump(libc::BPF_JSET, makes, 1, 0), ALLOW];
        body.extend(mode(at));
        body
    };
    let mut injection = vec![argument(1)];
    injection.extend(TERMINAL_INJECTION.iter().zip([3, 2, 1]).map(|(call, over)| jump(libc::BPF_JEQ, *call, over, 0)));
    injection.extend([ALLOW, refuse(libc::EPERM)]);
    vec![
        (libc::SYS_open, opening(1, 2)),
        (libc::SYS_openat, opening(2, 3)),
        (libc::SYS_creat, mode(1)),
        (libc::SYS_chmod, mode(1)),
        (libc::SYS_fchmod, mode(1)),
        (libc::SYS_fchmodat, mode(2)),
        (SYS_FCHMODAT2, mode(2)),
        (libc::SYS_mkdir, mode(1)),
        (libc::SYS_mkdirat, mode(2)),
        (libc::SYS_mknod, mode(1)),
        (libc::SYS_mknodat, mode(2)),
        (libc::SYS_ioctl, injection),
        // A lease on a file makes others wait who want to open it.
        (
            libc::SYS_fcntl,
            vec![argument(1), jump(libc::BPF_JEQ, libc::F_SETLEASE.cast_unsigned(), 0, 1), refuse(libc::EPERM), ALLOW],
        ),
        // A filter of the tool's own could answer for ours.
        (
            libc::SYS_prctl,
            vec![
                argument(0),
                jump(libc::BPF_JEQ, libc::PR_SET_SECCOMP.cast_unsigned(), 0, 1),
                refuse(libc::EPERM),
                ALLOW,
            ],
        ),
        (
            libc::SYS_personality,
            vec![
                argument(0),
                jump(libc::BPF_JEQ, 0, 2, 0),
                jump(libc::BPF_JEQ, u32::MAX, 1, 0),
                refuse(libc::EPERM),
                ALLOW,
            ],
        ),
    ]
}

/// Threads always, processes where they are declared, namespaces never.
fn processes(allow_subprocess: bool) -> Vec<(i64, Vec<sock_filter>)> {
    let verdict = if allow_subprocess { ALLOW } else { ASK };
    let clone = vec![
        argument(0),
        jump(libc::BPF_JSET, NAMESPACES, 0, 1),
        refuse(libc::EPERM),
        jump(libc::BPF_JSET, libc::CLONE_THREAD.cast_unsigned(), 0, 1),
        ALLOW,
        verdict,
    ];
    vec![
        (libc::SYS_clone, clone),
        (libc::SYS_fork, vec![verdict]),
        (libc::SYS_vfork, vec![verdict]),
        (libc::SYS_execve, vec![verdict]),
        (libc::SYS_execveat, vec![refuse(libc::EPERM)]),
    ]
}

fn sockets(has_network: bool) -> Vec<(i64, Vec<sock_filter>)> {
    // Datagrams in a pair can be sent to any socket with a path, so pairs are streams.
    let pair = vec![
        argument(0),
        jump(libc::BPF_JEQ, libc::AF_UNIX.cast_unsigned(), 0, 4),
        argument(1),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
        jump(libc::BPF_JEQ, libc::SOCK_STREAM.cast_unsigned(), 0, 1),
        ALLOW,
        refuse(libc::EACCES),
    ];
    let (inet, inet6) = (libc::AF_INET.cast_unsigned(), libc::AF_INET6.cast_unsigned());
    let socket = if has_network {
        vec![
            argument(0),
            jump(libc::BPF_JEQ, inet, 5, 0),
            jump(libc::BPF_JEQ, inet6, 4, 0),
            jump(libc::BPF_JEQ, libc::AF_NETLINK.cast_unsigned(), 0, 7),
            argument(2),
            jump(libc::BPF_JEQ, libc::NETLINK_ROUTE.cast_unsigned(), 0, 5),
            ALLOW,
            argument(1),
            statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
            jump(libc::BPF_JEQ, libc::SOCK_STREAM.cast_unsigned(), 2, 0),
            jump(libc::BPF_JEQ, libc::SOCK_DGRAM.cast_unsigned(), 1, 0),
            refuse(libc::EACCES),
            // The usual protocol, TCP and UDP; others are code of the kernel that few have read.
            argument(2),
            jump(libc::BPF_JEQ, 0, 3, 0),
            jump(libc::BPF_JEQ, libc::IPPROTO_TCP.cast_unsigned(), 2, 0),
            jump(libc::BPF_JEQ, libc::IPPROTO_UDP.cast_unsigned(), 1, 0),
            refuse(libc::EACCES),
            ALLOW,
        ]
    } else {
        // Asked, so that the refusal is told. Other families are tried by the C library for its own ends.
        vec![argument(0), jump(libc::BPF_JEQ, inet, 2, 0), jump(libc::BPF_JEQ, inet6, 1, 0), refuse(libc::EACCES), ASK]
    };
    let verdict = if has_network { ALLOW } else { refuse(libc::EACCES) };
    let mut rules = vec![(libc::SYS_socket, socket), (libc::SYS_socketpair, pair), (libc::SYS_setsockopt, options())];
    let others = [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];
    rules.extend(others.map(|call| (call, vec![verdict])));
    rules
}

/// Buffers of sockets are memory nobody counts, so they keep their size. That is a wish in any case, so it is answered
/// with "done": programs that tune their connections go on.
fn options() -> Vec<sock_filter> {
    vec![
        argument(1),
        jump(libc::BPF_JEQ, libc::SOL_SOCKET.cast_unsigned(), 0, 5),
        argument(2),
        jump(libc::BPF_JEQ, libc::SO_SNDBUF.cast_unsigned(), 4, 0),
        jump(libc::BPF_JEQ, libc::SO_RCVBUF.cast_unsigned(), 3, 0),
        jump(libc::BPF_JEQ, libc::SO_SNDBUFFORCE.cast_unsigned(), 2, 0),
        jump(libc::BPF_JEQ, libc::SO_RCVBUFFORCE.cast_unsigned(), 1, 0),
        ALLOW,
        refuse(0),
    ]
}

const SYS_FCHMODAT2: i64 = 452;

/// Refused with "not permitted", because programs that try them should hear that it is on purpose.
const REFUSED: &[i64] = &[
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

/// Allowed whatever their arguments are.
const ALLOWED: &[i64] = &[
    // Reading, writing and looking at files.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
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
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_truncate,
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
    libc::SYS_umask,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_utimensat,
    libc::SYS_futimesat,
    // Changing what is in folders.
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_chown,
    libc::SYS_fchown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
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
    // Processes, threads, and who they are.
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
    // What is done with sockets one has; getting one is another rule.
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendmmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    // futex_waitv, which the crate has no name for on every target.
    449,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program answers to a call, as the kernel would find it.
    fn answered(program: &[sock_filter], machine: u32, number: u32, arguments: [u32; 6]) -> u32 {
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
        for (allow_subprocess, has_network) in [(false, false), (false, true), (true, false), (true, true)] {
            let (program, rules) = (filter(allow_subprocess, has_network), rules(allow_subprocess, has_network));
            assert!(rules.windows(2).all(|pair| pair[0].0 < pair[1].0), "two rules for one call");
            for number in (0..1024).chain([X32 - 1]) {
                let rule = rules.iter().find(|(known, _)| *known == number);
                for bits in [0, 1, 2, 0o100, 0o4755, 0x5412, 0x1000_0000, u32::MAX] {
                    for at in 0..6 {
                        let mut arguments = [0; 6];
                        arguments[at] = bits;
                        let wanted = rule.map_or(refuse(libc::ENOSYS).k, |(_, body)| {
                            answered(body, ARCHITECTURE, number, arguments)
                        });
                        let found = answered(&program, ARCHITECTURE, number, arguments);
                        assert_eq!(found, wanted, "call {number}, {arguments:?}");
                    }
                }
            }
            for number in [X32, X32 | 1, u32::MAX] {
                assert_eq!(answered(&program, ARCHITECTURE, number, [0; 6]), KILL.k, "{number:x}");
            }
            assert_eq!(answered(&program, 0x4000_0003, 1, [0; 6]), KILL.k);
            assert_eq!(answered(&program, ARCHITECTURE, 1, [0; 6]), ALLOW.k);
        }
    }
}

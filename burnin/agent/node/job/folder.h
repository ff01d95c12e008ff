#pragma once
// A job's folder: what lies there, and what can be known from it. Earlier versions of Cupel let a
// shell look after some jobs, which left no `job` and no `cgroup`: those are read and ended, too.
//
//   input       what the job reads on its standard input, where it has some
//   started/    made before anything is started: whoever makes it, starts; nobody else does
//   job         its name, its limit in seconds, and when it was started (seconds since 1970)
//   boot        the node's boot id when it was started: another one now means that it is lost
//   program     the cupel-node that looks after it
//   keeper      process id of the supervisor, which holds a lock on this file while it lives
//   group       process id of the job, which leads a session of its own
//   cgroup      the control group that holds the job, where there is one
//   work/       where the job runs
//   out, err    the spool
//   beat        seconds since boot when the supervisor last looked
//   over/       made when the limit was reached; full/ when the spool was
//   stopped/    made before it is ended by stop: whatever it leaves is no result then
//   exit        the exit status; made last, whole, and on the disk
//   word        what the controller last reported the job; its stage looks for it
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace cupel::agent {

enum class Phase { unknown, starting, running, ended, stopped, lost };
std::string_view to_string(Phase phase);

struct Look {
  Phase phase = Phase::unknown;
  int exit_status = 0;
  pid_t keeper = 0;  // 0: nobody looks after it
  std::uint64_t out_size = 0;
  std::uint64_t err_size = 0;
  std::optional<double> beat_age{};  // seconds
  bool over = false;                 // its limit was reached
  bool full = false;                 // the limit of its spool was
};

/// What is known of the job now. Asks once, changes nothing.
Look look(const std::string& folder);

/// What was written down of a job when it was started.
struct Begun {
  std::string name{};
  std::uint64_t limit_seconds = 0;
  std::uint64_t at = 0;  // seconds since 1970
};
std::optional<Begun> begun(const std::string& folder);

/// Where the folder that a command line names is on this node: absolute, three levels or more,
/// without a way up, printable. Below /var/lib/cupel-node it is root's; any other user has it below
/// .cupel-node of his home. Links above the folder of all jobs are followed (some systems keep /var
/// elsewhere) where they are root's or our own; what they lead to is check_safe()'s to judge.
/// Errors: kInvalid; kFailed: a link of another user, or no home.
Result<std::string> job_folder(std::string_view named);

/// Made, with all that lies above it; it and the one above it closed to everybody else (0700).
/// Errors: kFailed; as check_safe().
Result<void> make_own_folder(const std::string& folder);

/// That no other user of the node can have changed what lies in a job's folder: it and the one
/// above it are no links, our own, and closed to everybody else; further up, no link, root's or our
/// own, and not writable for others, or sticky and root's. A folder that is not there is safe.
/// Asked before every use. Errors: kFailed: names what was found, and what to do.
Result<void> check_safe(const std::string& folder);

/// The kernel's time since the node started, sleep included.
std::chrono::nanoseconds since_boot();
std::string boot_id();

/// Takes the lock that says "alive" on the open file of our process id. False: somebody has it.
bool hold_keeper_lock(int descriptor);

}  // namespace cupel::agent

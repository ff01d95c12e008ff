#pragma once
// Jobs that outlive their connection: started once, spooled to files on the node, read from an
// offset, re-attached to after an SSH drop or a controller's restart. The node's side is our
// cupel-node (burnin/agent/node/job/), called by its argv.
//
// Everything below fails with kFailed, in words that name the folder, where another user of the
// node could have touched the job's folder, one above it, or a program that would be run; with
// kNotFound where the node has no cupel-node.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/ssh/node_folders.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

/// Where a job lives on its node, and how it is asked for.
struct JobHandle {
  /// "/var/lib/cupel-node/cupel-59f0d325caf8427d-run12-gpu-facts": what the journal keeps to find
  /// it again. Below kJobFolder, a login that is not root finds it below its own home.
  std::string folder;
  bool sudo = false;                     // everything about it is done as root, by `sudo -n`
  std::string programs{kProgramFolder};  // where our programs lie on the node
  friend bool operator==(const JobHandle&, const JobHandle&) = default;
};

/// Starts `script` detached (own session, standard streams in the folder) unless this very job was
/// started before: then it changes nothing. The node itself ends it after `limit`, whether or not a
/// controller ever comes back. Idempotent: safe after any crash. A job that spools more than 16 MiB
/// to either stream is ended. When the script ends, whatever it left behind is ended too.
/// Errors: as Session::run(); kFailed where the folder cannot be written.
Task<Result<void>> start_job(Session& session, JobHandle handle, std::string script,
                             std::chrono::seconds limit, Deadline deadline);

/// What is known of a job now.
struct JobState {
  enum class Phase { unknown, running, ended, stopped, lost } phase = Phase::unknown;
  // unknown: never started here. ended: by itself, and this was the last of its output. stopped:
  // stop_job() ended it, so that what it said is no result. lost: started, not running, and it left
  // no exit status (the node was restarted, or somebody killed it).
  int exit_status = 0;  // 124: ended by its limit
  std::string out{};    // standard output from `from` on, at most one chunk
  std::string err{};
  /// Since whoever looks after it last said that it lives, which it does every ten seconds.
  /// Nothing of one that has ended, and of one that a shell of an earlier version looks after.
  std::optional<std::chrono::duration<double>> silent_for{};
};

/// Waits on the node until there is more to read, the job has ended, or `wait` is over; one round
/// trip. Errors: as Session::run().
Task<Result<JobState>> read_job(Session& session, JobHandle handle, std::uint64_t out_from,
                                std::uint64_t err_from, std::chrono::seconds wait,
                                Deadline deadline);

/// Lays `word` into the job's folder, as the file `word` beside its streams: how a job is informed
/// something while it runs, in place of the word before. Its script finds the folder in CUPEL_JOB.
/// Idempotent. Errors: as Session::run(); kFailed where it cannot be written.
Task<Result<void>> tell_job(Session& session, JobHandle handle, std::string word,
                            Deadline deadline);

/// Ends the job and everything that it started. Idempotent.
Task<Result<void>> stop_job(Session& session, JobHandle handle, Deadline deadline);

/// Removes the folder of a job that does not run. Idempotent. Errors: kConflict while it runs.
Task<Result<void>> forget_job(Session& session, JobHandle handle, Deadline deadline);

}  // namespace cupel::ssh

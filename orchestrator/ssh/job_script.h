#pragma once
// The node's side of a detached job: POSIX shell and coreutils, to be sent by sent_script(). Pure
// text. Each script begins with job_place.h: it refuses (kUnsafePath) where another user of the
// node could have touched the folder.
//
// In the job's folder:
//   script      what the stage runs
//   boot        the node's boot id when it was started: another one now means that it is lost
//   started/    made before anything is started: whoever makes it, starts; nobody else does
//   keeper      process id of the shell that waits for the job and writes `exit`
//   program     there where a cupel-node looks after it, absent where a shell does; what it says is
//               for people: no path that is read there is ever run
//   group       process group of the job
//   out, err    the spool
//   over/       made when the limit was reached; full/ when the spool was
//   stopped/    made before it is ended by stop(): whatever it leaves is no result then
//   exit        the exit status; made last, whole
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cupel::ssh::job_script {

/// A stage that writes more than this to either stream is ended: no stage has so much to say, and a
/// full disk would take the node's other evidence with it.
constexpr std::uint64_t kSpoolLimit = 16u << 20;

/// What start() exits with where the folder cannot be written, and where the script came damaged.
constexpr int kCannotWrite = 73;
constexpr int kDamaged = 74;

/// Reads the script from standard input, and starts it unless it was started before. `programs`:
/// the folder of our programs on the node. `program`: the cupel-node in it, which looks after the
/// job; empty: a shell does.
std::string start(std::string_view folder, std::string_view script_digest,
                  std::chrono::seconds limit, std::string_view programs,
                  std::string_view program = {});

/// Waits, then prints kHeader, the phase, the exit status and the sizes of both files in one line,
/// and what is in `out` from there on; the same line and `err` on standard error. Of a job that
/// cupel-node looks after: what `cupel-node tail` prints, with at most `most` bytes of each stream.
std::string read(std::string_view folder, std::uint64_t out_from, std::uint64_t err_from,
                 std::chrono::seconds wait, std::uint64_t most, std::string_view programs);

/// In front of each stream: a shell's start-up files may have printed something before it.
constexpr std::string_view kHeader = "cupel-job-state:";
/// The same of cupel-node: one line, then what it announces of `out`, then of `err`.
constexpr std::string_view kNodeHeader = R"({"kind":"job",)";

/// Ends the job, its process group, and whatever left the group but kept the environment.
std::string stop(std::string_view folder, std::string_view programs);

/// Removes the folder; exits with kStillRunning where the job has not ended.
std::string forget(std::string_view folder);

/// Lays `word` into the folder of a job that was started.
std::string tell(std::string_view folder, std::string_view word);
constexpr int kStillRunning = 75;

}  // namespace cupel::ssh::job_script

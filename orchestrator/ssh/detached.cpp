#include "orchestrator/ssh/detached.h"

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "orchestrator/ssh/node_paths.h"
#include "orchestrator/ssh/run_command.h"

namespace cupel::ssh {
namespace {

namespace json = boost::json;

/// Of each stream, at most so much in one reading; the rest comes with the next.
constexpr std::size_t kChunk = 4u << 20;

/// A stage that writes more than this to either stream is ended: no stage has so much to say, and a
/// full disk would take the node's other evidence with it.
constexpr std::uint64_t kSpoolLimit = 16u << 20;

/// A header line and what a shell's start-up files may print before it.
constexpr std::size_t kBeforeChunk = 64 * 1024;
constexpr std::string_view kHeader = R"({"kind":"job",)";

// What cupel-node ends with (burnin/agent/README.md), and a shell that does not find it.
constexpr int kCutInput = 74, kStillRunning = 75, kNoProgram = 127;

/// Both streams of one command, each bounded. cupel-node sends both of the job's pieces in one.
struct BothStreams {
  int status = 0;
  std::string out{};
  std::string err{};
};

Sink into(BothStreams& heard) {
  return [&heard](Stream stream, std::string_view piece) {
    auto& text = stream == Stream::out ? heard.out : heard.err;
    constexpr auto kMost = kBeforeChunk + 2 * kChunk;
    const auto room = kMost - std::min(text.size(), kMost);
    text += piece.substr(0, room);
  };
}

/// A folder that may be removed whole: nothing near the root, nothing with a way up in it.
Result<void> check(const JobHandle& handle) {
  const auto levels = split(handle.folder, '/');
  const bool absolute = levels.size() >= 4 && levels.front().empty();
  bool plain = true;
  for (const auto level : levels) plain = plain && level != ".." && level != ".";
  for (std::size_t i = 1; i < levels.size(); ++i) plain = plain && !levels[i].empty();
  if (absolute && plain && printable(handle.folder) == handle.folder) return ok();
  return Error{Code::kInvalid, "no folder for a job: " + printable(handle.folder) +
                                   " (absolute, three levels or more)"};
}

Error failed(std::string_view attempt, const JobHandle& handle, const BothStreams& heard) {
  const auto what = std::string{attempt} + " " + handle.folder + ": ";
  if (heard.status == kNoProgram)
    return Error{Code::kNotFound, what + "the node has no cupel-node, neither in " +
                                      handle.programs + " nor in PATH"};
  const auto words = shortened(printable(trimmed(heard.err)), 500);
  return Error{Code::kFailed, what + (words.empty() ? "cupel-node ended with status " +
                                                          std::to_string(heard.status)
                                                    : words)};
}

std::optional<JobState::Phase> phase_of(std::string_view word) {
  using Phase = JobState::Phase;
  if (word == "unknown") return Phase::unknown;
  if (word == "running" || word == "starting") return Phase::running;
  if (word == "ended") return Phase::ended;
  if (word == "stopped") return Phase::stopped;
  if (word == "lost") return Phase::lost;
  return std::nullopt;
}

/// What `cupel-node tail` says: a line of JSON, and both pieces behind it.
Result<JobState> state_of(std::string_view answer) {
  const Error garbled{Code::kMalformed, "cupel-node's answer has no header line"};
  const auto begin = answer.find(kHeader);
  if (begin == answer.npos) return garbled;
  answer.remove_prefix(begin);
  const auto end = answer.find('\n');
  if (end == answer.npos) return garbled;
  boost::system::error_code failure;
  const auto header = json::parse(answer.substr(0, end), failure);
  if (failure || !header.is_object()) return garbled;
  const auto amount = [&](std::string_view name) -> std::optional<std::uint64_t> {
    const auto* reported = header.get_object().if_contains(name);
    if (reported == nullptr || !reported->is_int64() || reported->get_int64() < 0)
      return std::nullopt;
    return static_cast<std::uint64_t>(reported->get_int64());
  };
  const auto* word = header.get_object().if_contains("state");
  const auto phase = word && word->is_string() ? phase_of(word->get_string()) : std::nullopt;
  const auto status = amount("exit"), out = amount("out_bytes"), err = amount("err_bytes");
  if (!phase || !status || !out || !err || *status > 255 || *out > kChunk || *err > kChunk)
    return garbled;
  const auto bytes = answer.substr(end + 1);
  if (bytes.size() < *out + *err)
    return Error{Code::kMalformed, "cupel-node announced " + std::to_string(*out + *err) +
                                       " bytes and sent " + std::to_string(bytes.size())};
  JobState state{*phase, static_cast<int>(*status), std::string{bytes.substr(0, *out)},
                 std::string{bytes.substr(*out, *err)}};
  const auto* age = header.get_object().if_contains("heartbeat_age");
  const bool lives = *phase == JobState::Phase::running && age != nullptr && age->is_number();
  if (lives) state.silent_for = std::chrono::duration<double>{age->to_number<double>()};
  // Whoever hears "ended" stops reading, so it is only reported with the last piece.
  if (*out == kChunk || *err == kChunk) {
    state.phase = JobState::Phase::running;
    state.exit_status = 0;
  }
  return state;
}

/// The job may write between `wait` and the answer, and the answer needs its trip.
constexpr std::chrono::seconds kSpare{1};

/// Runs one of the program's subcommands for jobs. Errors: as Session::run().
Task<Result<BothStreams>> call(Session& session, std::string program,
                               std::vector<std::string> words, std::string input, bool sudo,
                               Deadline deadline) {
  words.insert(words.begin(), std::move(program));
  BothStreams heard;
  const auto sink = into(heard);
  CO_TRY(const auto ran,
         co_await session.run(command_line(words, sudo), std::move(input), sink, deadline));
  heard.status = ran.exit_status;
  if (heard.status == kNoProgram) session.node_program = {};
  co_return heard;
}

/// By the cupel-node that this connection knows. Errors: as Session::run() and
/// find_node_program(), naming what was tried.
Task<Result<BothStreams>> ask(Session& session, JobHandle handle, std::vector<std::string> words,
                              std::string input, Deadline deadline) {
  const auto what = (words.front() == "tail" ? "read" : words.front()) + " job " + handle.folder;
  for (bool is_known = !session.node_program.call.empty();; is_known = false) {
    auto program = co_await known_node_program(session, handle.programs, handle.sudo, deadline);
    if (!program) co_return std::move(program).error().within(what);
    auto heard = co_await call(session, *std::move(program), words, input, handle.sudo, deadline);
    if (!heard) co_return std::move(heard).error().within(what);
    // What this connection knew has gone: the node may have another.
    if (!is_known || heard->status != kNoProgram) co_return heard;
  }
}

/// `cupel-node VERB --folder FOLDER`
std::vector<std::string> words_for(std::string verb, const JobHandle& handle) {
  return {std::move(verb), "--folder", handle.folder};
}

std::vector<std::string> tail_words(const JobHandle& handle, std::uint64_t out_from,
                                    std::uint64_t err_from, std::chrono::seconds wait,
                                    std::size_t most) {
  auto words = words_for("tail", handle);
  for (const auto& [option, value] : {std::pair<const char*, std::uint64_t>{"--from", out_from},
                                      {"--errors-from", err_from},
                                      {"--wait", wait.count()},
                                      {"--most", most}}) {
    words.emplace_back(option);
    words.push_back(std::to_string(value));
  }
  return words;
}

}  // namespace

Task<Result<void>> start_job(Session& session, JobHandle handle, std::string script,
                             std::chrono::seconds limit, Deadline deadline) {
  CO_TRY(check(handle));
  // The shell reads its script as a file: what it runs must not read the rest of it.
  script.insert(0, "exec < /dev/null\n");
  std::vector<std::string> words{"start",
                                 handle.folder.substr(handle.folder.rfind('/') + 1),
                                 "--folder",
                                 handle.folder,
                                 "--limit",
                                 std::to_string(limit.count()),
                                 "--spool-limit",
                                 std::to_string(kSpoolLimit),
                                 "--input-bytes",
                                 std::to_string(script.size()),
                                 "--",
                                 "sh",
                                 "../input"};
  // What lies in the first two runs as soon as a stage names it, and tools have their scratch files
  // in the others.
  std::vector<std::string> beside{handle.programs, handle.programs + "/lib", "/tmp/.",
                                  "/var/tmp/."};
  const auto what = "start job " + handle.folder;
  auto program = co_await find_node_program(session, handle.programs, std::move(beside),
                                            handle.sudo, deadline);
  if (!program) co_return std::move(program).error().within(what);
  auto ran = co_await call(session, *std::move(program), std::move(words), std::move(script),
                           handle.sudo, deadline);
  if (!ran) co_return std::move(ran).error().within(what);
  const auto& heard = *ran;
  if (heard.status == 0) co_return ok();
  if (heard.status == kCutInput)
    co_return Error{Code::kUnreachable, what + ": the script did not come whole"};
  co_return failed("start job", handle, heard);
}

Task<Result<JobState>> read_job(Session& session, JobHandle handle, std::uint64_t out_from,
                                std::uint64_t err_from, std::chrono::seconds wait,
                                Deadline deadline) {
  CO_TRY(check(handle));
  const auto patience = std::chrono::floor<std::chrono::seconds>(deadline.left()) - kSpare;
  const auto pause = std::clamp(patience, std::chrono::seconds{0}, wait);
  auto words = tail_words(handle, out_from, err_from, pause, kChunk);
  CO_TRY(const auto heard, co_await ask(session, handle, std::move(words), {}, deadline));
  if (heard.status != 0) co_return failed("read job", handle, heard);
  co_return within("read job " + handle.folder, state_of(heard.out));
}

Task<Result<void>> tell_job(Session& session, JobHandle handle, std::string word,
                            Deadline deadline) {
  CO_TRY(check(handle));
  word += '\n';
  CO_TRY(const auto heard,
         co_await ask(session, handle, words_for("tell", handle), std::move(word), deadline));
  if (heard.status != 0) co_return failed("tell job", handle, heard);
  co_return ok();
}

Task<Result<void>> stop_job(Session& session, JobHandle handle, Deadline deadline) {
  CO_TRY(check(handle));
  CO_TRY(const auto heard, co_await ask(session, handle, words_for("stop", handle), {}, deadline));
  if (heard.status != 0) co_return failed("stop job", handle, heard);
  co_return ok();
}

Task<Result<void>> forget_job(Session& session, JobHandle handle, Deadline deadline) {
  CO_TRY(check(handle));
  CO_TRY(const auto heard,
         co_await ask(session, handle, words_for("forget", handle), {}, deadline));
  if (heard.status == kStillRunning)
    co_return Error{Code::kConflict, "forget job " + handle.folder + ": it is still running"};
  if (heard.status != 0) co_return failed("forget job", handle, heard);
  co_return ok();
}

}  // namespace cupel::ssh

#include "orchestrator/ssh/detached.h"

#include <boost/json/parse.hpp>

#include "base/digest.h"
#include "base/text.h"
#include "orchestrator/ssh/job_script.h"
#include "orchestrator/ssh/sent_script.h"

namespace cupel::ssh {
namespace {

namespace json = boost::json;

/// Of each stream, at most so much in one reading; the rest comes with the next.
constexpr std::size_t kChunk = 4u << 20;

/// A header line and what a shell's start-up files may print before it.
constexpr std::size_t kBeforeChunk = 64 * 1024;

/// Both streams of one command, each bounded. cupel-node sends both pieces in one.
struct BothStreams {
  std::string out;
  std::string err;
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
  return Error{Code::kFailed, std::string{attempt} + " " + handle.folder + ": " +
                                  shortened(printable(trimmed(heard.err)), 500)};
}

/// What the header line says of both streams.
struct Header {
  JobState::Phase phase{};
  int exit_status = 0;
  std::uint64_t out_size = 0;
  std::uint64_t err_size = 0;
  std::string_view after;  // the bytes behind the line
};

std::optional<JobState::Phase> phase_of(std::string_view word) {
  using Phase = JobState::Phase;
  if (word == "unknown") return Phase::unknown;
  if (word == "running" || word == "starting") return Phase::running;
  if (word == "ended") return Phase::ended;
  if (word == "stopped") return Phase::stopped;
  if (word == "lost") return Phase::lost;
  return std::nullopt;
}

Result<Header> header_of(std::string_view stream) {
  const Error garbled{Code::kMalformed, "the node's answer has no header line"};
  const auto start = stream.find(job_script::kHeader);
  if (start == stream.npos) return garbled;
  const auto end = stream.find('\n', start);
  if (end == stream.npos) return garbled;
  const auto reported = words(stream.substr(start, end - start));
  if (reported.size() != 5) return garbled;
  const auto phase = phase_of(reported[1]);
  const auto status = number<int>(reported[2]);
  const auto out = number<std::uint64_t>(reported[3]);
  const auto err = number<std::uint64_t>(reported[4]);
  if (!phase || !status || !out || !err) return garbled;
  return Header{*phase, *status, *out, *err, stream.substr(end + 1)};
}

/// Exactly what lay between `from` and the size that the header told: what the job wrote since
/// comes with the next reading, and what a shell printed behind it never.
Result<std::string> piece(std::string_view bytes, std::uint64_t from, std::uint64_t size) {
  const auto due = size > from ? size - from : 0;
  const auto taken = std::min<std::uint64_t>(due, kChunk);
  if (bytes.size() < taken)
    return Error{Code::kMalformed, "the node announced " + std::to_string(due) +
                                       " bytes and sent " + std::to_string(bytes.size())};
  return std::string{bytes.substr(0, taken)};
}

/// What cupel-node says: a line of JSON, and both pieces behind it.
Result<JobState> state_by_program(std::string_view answer) {
  const Error garbled{Code::kMalformed, "cupel-node's answer has no header line"};
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
  // Whoever hears "ended" stops reading, so it is only said with the last piece.
  if (*out == kChunk || *err == kChunk) {
    state.phase = JobState::Phase::running;
    state.exit_status = 0;
  }
  return state;
}

Result<JobState> state_of(const BothStreams& heard, std::uint64_t out_from,
                          std::uint64_t err_from) {
  const auto by_program = heard.out.find(job_script::kNodeHeader);
  if (by_program < heard.out.find(job_script::kHeader))
    return state_by_program(std::string_view{heard.out}.substr(by_program));
  TRY(const auto out, header_of(heard.out));
  TRY(const auto err, header_of(heard.err));
  JobState state{out.phase, out.exit_status, {}, {}};
  TRY(state.out, piece(out.after, out_from, out.out_size));
  TRY(state.err, piece(err.after, err_from, err.err_size));
  const bool more =
      out_from + state.out.size() < out.out_size || err_from + state.err.size() < err.err_size;
  // Whoever hears "ended" stops reading, so it is only said with the last piece.
  if (more) {
    state.phase = JobState::Phase::running;
    state.exit_status = 0;
  }
  return state;
}

/// The job may write between `wait` and the answer, and the answer needs its trip.
constexpr std::chrono::seconds kSpare{1};

/// Sends one script about the job. Errors: as Session::run(), naming what was tried.
Task<Result<CommandOutcome>> send(Session& session, const JobHandle& handle, std::string_view what,
                                  std::string script, std::string payload, BothStreams& heard,
                                  Deadline deadline) {
  auto sent = sent_script(script, payload, handle.sudo);
  const auto sink = into(heard);
  auto ran = co_await session.run(std::move(sent.command), std::move(sent.input), sink, deadline);
  if (!ran) co_return std::move(ran).error().within(std::string{what} + " " + handle.folder);
  co_return ran;
}

/// A script about the job of which nothing is wanted but that it succeeds.
Task<Result<void>> order(Session& session, JobHandle handle, std::string what, std::string script,
                         Deadline deadline) {
  BothStreams heard;
  CO_TRY(const auto ran,
         co_await send(session, handle, what, std::move(script), {}, heard, deadline));
  if (ran.exit_status == 0) co_return ok();
  co_return failed(what, handle, heard);
}

}  // namespace

Task<Result<void>> start_job(Session& session, JobHandle handle, std::string script,
                             std::chrono::seconds limit, Deadline deadline, std::string program) {
  CO_TRY(check(handle));
  auto start =
      job_script::start(handle.folder, sha256_hex(script), limit, handle.programs, program);
  BothStreams heard;
  CO_TRY(const auto ran, co_await send(session, handle, "start job", std::move(start),
                                       std::move(script), heard, deadline));
  if (ran.exit_status == 0) co_return ok();
  if (ran.exit_status == job_script::kDamaged)
    co_return Error{Code::kUnreachable, "start job " + handle.folder + ": the script came damaged"};
  co_return failed("start job", handle, heard);
}

Task<Result<JobState>> read_job(Session& session, JobHandle handle, std::uint64_t out_from,
                                std::uint64_t err_from, std::chrono::seconds wait,
                                Deadline deadline) {
  CO_TRY(check(handle));
  const auto patience = std::chrono::floor<std::chrono::seconds>(deadline.left()) - kSpare;
  const auto pause = std::clamp(patience, std::chrono::seconds{0}, wait);
  auto script = job_script::read(handle.folder, out_from, err_from, pause, kChunk, handle.programs);
  BothStreams heard;
  CO_TRY(const auto ran,
         co_await send(session, handle, "read job", std::move(script), {}, heard, deadline));
  if (ran.exit_status != 0) co_return failed("read job", handle, heard);
  co_return within("read job " + handle.folder, state_of(heard, out_from, err_from));
}

Task<Result<void>> tell_job(Session& session, JobHandle handle, std::string word,
                            Deadline deadline) {
  CO_TRY(check(handle));
  auto script = job_script::tell(handle.folder, word);
  co_return co_await order(session, handle, "tell job", std::move(script), deadline);
}

Task<Result<void>> stop_job(Session& session, JobHandle handle, Deadline deadline) {
  CO_TRY(check(handle));
  auto script = job_script::stop(handle.folder, handle.programs);
  co_return co_await order(session, handle, "stop job", std::move(script), deadline);
}

Task<Result<void>> forget_job(Session& session, JobHandle handle, Deadline deadline) {
  CO_TRY(check(handle));
  BothStreams heard;
  CO_TRY(const auto ran, co_await send(session, handle, "forget job",
                                       job_script::forget(handle.folder), {}, heard, deadline));
  if (ran.exit_status == job_script::kStillRunning)
    co_return Error{Code::kConflict, "forget job " + handle.folder + ": it is still running"};
  if (ran.exit_status == 0) co_return ok();
  co_return failed("forget job", handle, heard);
}

}  // namespace cupel::ssh

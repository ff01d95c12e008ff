// What a job has said from an offset on, and how it stands: a header line, then exactly the bytes
// that it announces.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/process_tree.h"
#include "burnin/agent/node/job/subcommands.h"
#include "burnin/agent/node/job/watch_folder.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;

constexpr auto kCount = Choice::Kind::kCount;
constexpr double kAnyOffset = 9007199254740992.0;  // 2^53: larger ones are no exact numbers
constexpr std::array kTailChoices{
    Choice{.name = "--folder", .kind = Choice::Kind::kText},
    Choice{.name = "--from", .kind = kCount, .fallback = "0", .high = kAnyOffset},
    Choice{.name = "--errors-from", .kind = kCount, .fallback = "0", .high = kAnyOffset},
    Choice{.name = "--wait", .kind = kCount, .fallback = "0", .high = 3600},
    Choice{
        .name = "--most", .kind = kCount, .fallback = "4194304", .low = 1, .high = 64.0 * 1048576}};
constexpr milliseconds kToStart{2000};  // a job without a keeper after that has none
constexpr milliseconds kGather{200};    // a job that talks all the time is not read line by line
constexpr milliseconds kToKill{5000};

struct TailRequest {
  std::string folder;
  std::uint64_t out_from = 0;
  std::uint64_t err_from = 0;
  std::uint64_t most = 0;
  milliseconds wait{};
};

Result<TailRequest> tail_request_of(Arguments arguments) {
  TRY(const auto options, Options::read(kTailChoices, arguments));
  TailRequest requested;
  TRY(requested.folder, job_folder(options.text("--folder")));
  requested.out_from = options.count("--from");
  requested.err_from = options.count("--errors-from");
  requested.most = options.count("--most");
  requested.wait = std::chrono::seconds{options.count("--wait")};
  return requested;
}

bool has_news(const Look& seen, const TailRequest& requested) {
  const bool at_work = seen.phase == Phase::running || seen.phase == Phase::starting;
  return !at_work || seen.out_size > requested.out_from || seen.err_size > requested.err_from;
}

/// Nothing where nobody waits for the answer any more.
std::optional<Look> wait_for_news(const TailRequest& requested) {
  FolderWatch watch{requested.folder};
  const auto begun = since_boot();
  auto seen = look(requested.folder);
  bool waited = false;
  while (!has_news(seen, requested)) {
    const bool starting = seen.phase == Phase::starting;
    const auto until = begun + (starting ? std::max(kToStart, requested.wait) : requested.wait);
    const auto left = std::chrono::ceil<milliseconds>(until - since_boot());
    if (left <= milliseconds{0}) break;
    if (!watch.wait(seen.keeper, starting ? std::min(left, kToStart) : left)) return std::nullopt;
    seen = look(requested.folder);
    waited = true;
    if (seen.phase == Phase::starting && since_boot() - begun >= kToStart) break;
  }
  if (waited && seen.phase == Phase::running) {
    const auto until = std::min(since_boot() + kGather, begun + requested.wait);
    const auto left = std::chrono::ceil<milliseconds>(until - since_boot());
    if (!watch.wait_for_end(seen.keeper, left)) return std::nullopt;
    seen = look(requested.folder);
  }
  if (seen.phase == Phase::starting) seen.phase = Phase::lost;
  return seen;
}

std::uint64_t due(std::uint64_t from, std::uint64_t size, std::uint64_t most) {
  return size > from ? std::min(size - from, most) : 0;
}

/// Exactly so many bytes, or false: then the answer is shorter than it said, and the reader knows.
bool send(const std::string& path, std::uint64_t from, std::uint64_t count) {
  if (count == 0) return true;
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return false;
  char piece[64 * 1024];
  while (count > 0) {
    const auto got = ::pread(file.number(), piece, std::min<std::uint64_t>(count, sizeof piece),
                             static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    if (!write_all(STDOUT_FILENO, {piece, static_cast<std::size_t>(got)})) return false;
    from += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

int tail_job(Arguments arguments) {
  const auto reported = tail_request_of(arguments);
  if (!reported) return print_error(reported.error());
  const auto& requested = *reported;
  const auto safe = check_safe(requested.folder);
  if (!safe) return print_error(safe.error());
  const auto seen = wait_for_news(requested);
  if (!seen) return kCannotWrite;
  // The guard has ended what was left already, unless it was killed as well.
  if (seen->phase == Phase::lost)
    kill_strays(requested.folder, read_word(requested.folder + "/cgroup").value_or(""), kToKill);
  const auto out = due(requested.out_from, seen->out_size, requested.most);
  const auto err = due(requested.err_from, seen->err_size, requested.most);
  JsonLine line{"job"};
  line.add("state", to_string(seen->phase)).add("exit", seen->exit_status);
  line.add("out_size", seen->out_size).add("err_size", seen->err_size);
  line.add("out_bytes", out).add("err_bytes", err);
  line.add("over_limit", seen->over).add("over_spool", seen->full);
  if (seen->beat_age) line.add("heartbeat_age", *seen->beat_age);
  const bool sent = print(line) && send(requested.folder + "/out", requested.out_from, out) &&
                    send(requested.folder + "/err", requested.err_from, err);
  return sent ? kDone : kCannotWrite;
}

}  // namespace cupel::agent

// Starts a job unless this very folder was started before.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/options.h"
#include "burnin/agent/node/job/subcommands.h"
#include "burnin/agent/node/job/supervisor.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kMostSeconds = 60ull * 86'400;
constexpr std::uint64_t kUsualSpool = 16u << 20;
constexpr std::uint64_t kMostSpool = 4ull << 30;
constexpr std::size_t kLongestName = 200;

Result<JobOrder> order_of(Arguments arguments) {
  constexpr std::array<std::string_view, 3> kKnown{"--folder", "--limit", "--spool-limit"};
  TRY(const auto options, read_options(arguments, kKnown));
  if (options.words.size() != 1 || options.behind.empty() || !options.set.contains("--limit"))
    return Error{Code::kInvalid,
                 "start: NAME, --folder DIR, --limit SECONDS and -- COMMAND are due"};
  JobOrder order;
  order.name = shortened(printable(options.words[0]), kLongestName);
  TRY(order.folder, checked_folder(options.value("--folder")));
  TRY(const auto limit, options.amount("--limit", 0, 1, kMostSeconds));
  order.limit = std::chrono::seconds{limit};
  TRY(order.spool_limit, options.amount("--spool-limit", kUsualSpool, 1, kMostSpool));
  order.command.assign(options.behind.begin(), options.behind.end());
  return order;
}

int say(const JobOrder& order, bool started, const JobStarted& job) {
  JsonLine line{"start"};
  line.add("name", order.name).add("folder", order.folder).add("started", started);
  if (started) {
    line.add("keeper", job.keeper).add("group", job.group);
    line.add("cgroup", read_word(order.folder + "/cgroup").value_or(""));
  }
  return print(line) ? kDone : kCannotWrite;
}

}  // namespace

int complain(const Error& error) {
  write_all(STDERR_FILENO, "cupel-node: " + error.what + "\n");
  return error.code == Code::kInvalid ? kUsage : kCannotWrite;
}

int start_job(Arguments arguments) {
  const auto told = order_of(arguments);
  if (!told) return complain(told.error());
  const auto& order = *told;
  const auto started = order.folder + "/started";
  ::umask(022);
  const auto made = make_own_folder(order.folder);
  if (!made) return complain(made.error());
  if (::access(started.c_str(), F_OK) == 0) return say(order, false, {});
  if (::mkdir(started.c_str(), 0755) != 0) {
    if (errno == EEXIST) return say(order, false, {});
    return complain(Error{Code::kFailed, started + ": " + std::strerror(errno)});
  }
  const auto job = start_supervised(order);
  if (job) return say(order, true, *job);
  for (const char* file : {"/out", "/err"}) ::unlink((order.folder + file).c_str());
  ::rmdir(started.c_str());  // nothing runs: another try may
  return complain(Error{job.error()}.within("start " + order.folder));
}

}  // namespace cupel::agent

// Starts a job unless this very folder was started before.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/subcommands.h"
#include "burnin/agent/node/job/supervisor.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr std::array kStartChoices{
    Choice{.name = "--folder", .kind = Choice::Kind::kText},
    Choice{.name = "--limit", .kind = Choice::Kind::kCount, .low = 1, .high = 60.0 * 86'400},
    Choice{.name = "--spool-limit",
           .kind = Choice::Kind::kCount,
           .fallback = "16777216",
           .low = 1,
           .high = 4.0 * (1u << 30)}};

Result<JobOrder> order_of(Arguments arguments) {
  TRY(const auto options, Options::read(kStartChoices, arguments));
  if (options.operands().size() != 1 || options.command().empty() || !options.given("--limit"))
    return Error{Code::kInvalid, "start needs NAME, --folder DIR, --limit SECONDS and -- COMMAND"};
  JobOrder order;
  order.name = shortened(printable(options.operands()[0]), kLongestName);
  TRY(order.folder, checked_folder(options.text("--folder")));
  order.limit = std::chrono::seconds{options.count("--limit")};
  order.spool_limit = options.count("--spool-limit");
  order.command.assign(options.command().begin(), options.command().end());
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

int print_error(const Error& error) {
  write_all(STDERR_FILENO, "cupel-node: " + error.what + "\n");
  return error.code == Code::kInvalid ? kUsage : kCannotWrite;
}

int start_job(Arguments arguments) {
  const auto reported = order_of(arguments);
  if (!reported) return print_error(reported.error());
  const auto& order = *reported;
  const auto started = order.folder + "/started";
  ::umask(022);
  const auto made = make_own_folder(order.folder);
  if (!made) return print_error(made.error());
  if (::access(started.c_str(), F_OK) == 0) return say(order, false, {});
  if (::mkdir(started.c_str(), 0755) != 0) {
    if (errno == EEXIST) return say(order, false, {});
    return print_error(Error{Code::kFailed, started + ": " + std::strerror(errno)});
  }
  const auto job = start_supervised(order);
  if (job) return say(order, true, *job);
  for (const char* file : {"/out", "/err"}) ::unlink((order.folder + file).c_str());
  ::rmdir(started.c_str());  // nothing runs: another try may
  return print_error(Error{job.error()}.within("start " + order.folder));
}

}  // namespace cupel::agent

// Starts a job unless this very folder was started before.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

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
constexpr double kMostInput = 64.0 * (1u << 20);
constexpr std::array kStartChoices{
    Choice{.name = "--folder", .kind = Choice::Kind::kText},
    Choice{.name = "--limit", .kind = Choice::Kind::kCount, .low = 1, .high = 60.0 * 86'400},
    Choice{.name = "--spool-limit",
           .kind = Choice::Kind::kCount,
           .fallback = "16777216",
           .low = 1,
           .high = 4.0 * (1u << 30)},
    Choice{.name = "--input-bytes", .kind = Choice::Kind::kCount, .high = kMostInput}};

struct StartOrder {
  JobOrder job{};
  std::optional<std::size_t> input_bytes{};
};

Result<StartOrder> order_of(Arguments arguments) {
  TRY(const auto options, Options::read(kStartChoices, arguments));
  if (options.operands().size() != 1 || options.command().empty() || !options.given("--limit"))
    return Error{Code::kInvalid, "start needs NAME, --folder DIR, --limit SECONDS and -- COMMAND"};
  StartOrder order;
  auto& job = order.job;
  job.name = shortened(printable(options.operands()[0]), kLongestName);
  TRY(job.folder, job_folder(options.text("--folder")));
  job.limit = std::chrono::seconds{options.count("--limit")};
  job.spool_limit = options.count("--spool-limit");
  job.command.assign(options.command().begin(), options.command().end());
  if (options.given("--input-bytes")) order.input_bytes = options.count("--input-bytes");
  return order;
}

/// So much of our standard input. Errors: kUnreachable: it ended before that, so what was to be
/// started did not come whole.
Result<std::string> read_input(std::size_t bytes) {
  std::string input(bytes, '\0');
  std::size_t came = 0;
  while (came < bytes) {
    const auto got = ::read(STDIN_FILENO, input.data() + came, bytes - came);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    came += static_cast<std::size_t>(got);
  }
  if (came < bytes)
    return Error{Code::kUnreachable, "standard input ended after " + std::to_string(came) + " of " +
                                         std::to_string(bytes) + " bytes: nothing was started"};
  return input;
}

/// In a folder in which nobody else starts. Errors: kFailed, with nothing left running.
Result<JobStarted> start_with(JobOrder& job, const std::optional<std::string>& input) {
  if (input) {
    job.input = job.folder + "/input";
    TRY(write_durably(job.input, *input));
  }
  return start_supervised(job);
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
  if (error.code == Code::kUnreachable) return kCutInput;
  return error.code == Code::kInvalid ? kUsage : kCannotWrite;
}

int start_job(Arguments arguments) {
  auto reported = order_of(arguments);
  if (!reported) return print_error(reported.error());
  auto& order = reported->job;
  const auto started = order.folder + "/started";
  ::umask(022);
  const auto made = make_own_folder(order.folder);
  if (!made) return print_error(made.error());
  if (::access(started.c_str(), F_OK) == 0) return say(order, false, {});
  std::optional<std::string> input;
  if (const auto bytes = reported->input_bytes) {
    auto came = read_input(*bytes);
    if (!came) return print_error(came.error());
    input = *std::move(came);
  }
  if (::mkdir(started.c_str(), 0755) != 0) {
    if (errno == EEXIST) return say(order, false, {});
    return print_error(Error{Code::kFailed, started + ": " + std::strerror(errno)});
  }
  const auto job = start_with(order, input);
  if (job) return say(order, true, *job);
  for (const char* file : {"/out", "/err"}) ::unlink((order.folder + file).c_str());
  ::rmdir(started.c_str());  // nothing runs: another try may
  return print_error(Error{job.error()}.within("start " + order.folder));
}

}  // namespace cupel::agent

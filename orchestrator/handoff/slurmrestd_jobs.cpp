#include "orchestrator/handoff/slurmrestd_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/ownership.h"
#include "base/text.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostJobs = 100, kMostAskedOneByOne = 4, kLongestWord = 80, kMostFlags = 16;
constexpr std::size_t kMostOfList = 64u << 20;
/// The token's user need not be one of this machine, and our own environment may hold secrets.
constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string word_of(std::string_view text) { return shortened(printable(text), kLongestWord); }

/// 17, "17" or {"set": true, "infinite": false, "number": 17}.
std::string id_at(const json::value& object, std::string_view key) {
  constexpr double kMost = 4294967295.0;
  const auto unset = flag_at(object, std::string{key} + "/set");
  const auto bare = number_at(object, key);
  const auto found = bare ? bare : number_at(object, std::string{key} + "/number");
  if (unset == false || !found || !(*found >= 1 && *found <= kMost)) return {};
  return fmt::format("{:.0f}", *found);
}

/// The words of a text, or of a list of texts, in capitals.
std::vector<std::string> states_in(const json::value* value) {
  std::vector<std::string> found;
  const auto add = [&](const json::value& each) {
    const auto* text = each.if_string();
    if (text == nullptr || text->empty() || found.size() == kMostFlags) return;
    auto word = word_of({text->data(), text->size()});
    for (char& c : word)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    found.push_back(std::move(word));
  };
  if (value == nullptr) return found;
  add(*value);
  if (const auto* list = value->if_array())
    for (const auto& each : *list) add(each);
  return found;
}

/// One word, as squeue chooses it of a state and its flags: ["COMPLETED", "COMPLETING"] is not over
/// yet. Source: job_state_string() of Slurm's slurm_protocol_defs.c (22.05).
std::string state_of(const json::value& job) {
  constexpr std::array<std::string_view, 12> kFlags{
      "COMPLETING",   "CONFIGURING", "RESIZING", "REQUEUED",      "REQUEUE_FED", "REQUEUE_HOLD",
      "SPECIAL_EXIT", "STOPPED",     "REVOKED",  "RESV_DEL_HOLD", "SIGNALING",   "STAGE_OUT"};
  auto states = states_in(find(job, "job_state"));
  if (states.empty()) states = states_in(find(job, "state/current"));
  for (const auto flag : kFlags)
    if (std::ranges::find(states, flag) != states.end()) return std::string{flag};
  return states.empty() ? std::string{} : states.front();
}

std::string first_text(const json::value& job, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (const auto text = text_at(job, key)) return word_of(*text);
  return {};
}

/// Whether slurmctld has no such job any more.
bool is_gone(const ApiAnswer& answer) {
  const auto failure = rest_failure(answer.body);
  return failure && failure->number == kRestNoSuchJob;
}

/// With each byte that may mean something in a URL as %XX. Source: RFC 3986, 2.1 and 2.3.
std::string in_url(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  std::string encoded;
  for (const char c : text)
    if (kPlain.contains(c))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

/// Since v0.0.40 the slash, before it the colon parts a generic resource from its name.
std::string tres_of(const std::map<std::string, std::string>& options, int version) {
  constexpr int kWithSlash = 40;
  const auto* prefix = version < kWithSlash ? "gres:" : "gres/";
  std::vector<std::string> found;
  if (const auto gres = options.find("gres"); gres != options.end())
    for (const auto each : split(gres->second, ','))
      found.push_back(fmt::format("{}{}", prefix, each));
  if (const auto gpus = options.find("gpus-per-node"); gpus != options.end())
    found.push_back(fmt::format("{}gpu:{}", prefix, gpus->second));
  return fmt::format("{}", fmt::join(found, ","));
}

void add_counts(json::object& job, const std::map<std::string, std::string>& options) {
  constexpr std::array kCounts{std::pair{"ntasks", "tasks"},
                               std::pair{"ntasks-per-node", "tasks_per_node"},
                               std::pair{"cpus-per-task", "cpus_per_task"}};
  for (const auto& [option, key] : kCounts)
    if (const auto at = options.find(option); at != options.end())
      job[key] = number<unsigned>(at->second).value_or(1);
}

/// The script's own #SBATCH lines, in the words of the API.
void add_options(json::object& job, const std::map<std::string, std::string>& options,
                 int version) {
  constexpr std::array kTexts{std::pair{"account", "account"},
                              std::pair{"constraint", "constraints"},
                              std::pair{"error", "standard_error"},
                              std::pair{"mem", "memory_per_node"},
                              std::pair{"qos", "qos"},
                              std::pair{"reservation", "reservation"}};
  for (const auto& [option, key] : kTexts)
    if (const auto at = options.find(option); at != options.end()) job[key] = at->second;
  add_counts(job, options);
  if (version >= kRestWithLists) {
    if (options.contains("exclusive")) job["shared"] = json::array{"none"};
    if (const auto tres = tres_of(options, version); !tres.empty()) job["tres_per_node"] = tres;
    return;
  }
  if (options.contains("exclusive")) job["exclusive"] = "exclusive";
  if (const auto gres = options.find("gres"); gres != options.end()) job["gres"] = gres->second;
  if (const auto gpus = options.find("gpus-per-node"); gpus != options.end())
    job["gpus_per_node"] = gpus->second;
}

/// Where no answer says that slurmctld refused it, it may have taken it.
Error of_submission(Error error) {
  if (error.code == Code::kBusy || error.code == Code::kMalformed) error.code = Code::kUnreachable;
  return error;
}

}  // namespace

Result<std::vector<RestJob>> parse_rest_jobs(const json::value& answer, std::string_view name) {
  const auto* jobs = find(answer, "jobs");
  const auto* list = jobs == nullptr ? nullptr : jobs->if_array();
  if (list == nullptr) return Error{Code::kMalformed, "slurmrestd answers with no list of jobs"};
  std::vector<RestJob> found;
  for (const auto& each : *list) {
    if (text_at(each, "name") != name || found.size() == kMostJobs) continue;
    auto reason = first_text(each, {"state_reason", "state/reason"});
    SlurmJobState job{.id = id_at(each, "job_id"),
                      .state = state_of(each),
                      .reason = reason.empty() ? "None" : std::move(reason)};
    if (job.id.empty() || job.state.empty())
      return Error{
          Code::kMalformed,
          fmt::format("slurmrestd lists job {} without an id, or without a state", word_of(name))};
    found.push_back({.job = std::move(job),
                     .user = first_text(each, {"user_name", "user", "association/user"}),
                     .user_id = number_at(each, "user_id")});
  }
  std::ranges::stable_sort(
      found, {}, [](const RestJob& each) { return std::pair{each.job.id.size(), each.job.id}; });
  return found;
}

json::object rest_submission(const JobOrder& order, const BatchScript& script,
                             const std::string& partition, const inventory::SlurmJob& job,
                             const std::string& output, int version) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(order.limit).count();
  const auto nodes = fmt::format("{}", fmt::join(order.nodes, ","));
  json::object sent;
  add_options(sent, script.options, version);
  sent["name"] = order.name;
  sent["comment"] = "submitted by cupel";
  sent["nodes"] = std::to_string(order.nodes.size());
  sent["partition"] = partition;
  sent["time_limit"] = minutes;
  sent["standard_output"] = output;
  sent["current_working_directory"] = job.results;
  if (!job.reservation.empty()) sent["reservation"] = job.reservation;
  if (version < kRestWithLists) {
    sent["nodelist"] = nodes;
    sent["no_requeue"] = true;
    sent["environment"] = json::object{{"PATH", kPath}};
    return {{"job", std::move(sent)}, {"script", script.text}};
  }
  sent["required_nodes"] = nodes;
  sent["requeue"] = false;
  sent["environment"] = json::array{fmt::format("PATH={}", kPath)};
  sent["script"] = script.text;
  return {{"job", std::move(sent)}};
}

SlurmrestdJobs::SlurmrestdJobs(const inventory::SlurmSite& site, const inventory::SlurmJob& job)
    : SlurmJobs{site, job}, api_{*site.rest} {}

/// By token the token's user; by a Unix socket the user of this process.
Result<bool> SlurmrestdJobs::is_own(const RestJob& job) const {
  if (!site_.rest->token && job.user_id) return *job.user_id == static_cast<double>(::geteuid());
  const auto own = site_.rest->token ? api_.user() : name_of_user(::geteuid());
  if (own.empty())
    return Error{Code::kInvalid,
                 "slurm: rest has no user, and its token names none: write user: NAME beside it"};
  if (job.user.empty())
    return Error{Code::kMalformed,
                 fmt::format("{} does not say whose job {} is", api_.who(), job.job.id)};
  return job.user == own;
}

Result<std::vector<SlurmJobState>> SlurmrestdJobs::own_jobs(const json::value& answer,
                                                            const std::string& name) const {
  TRY(auto jobs, parse_rest_jobs(answer, name));
  Jobs own;
  for (auto& each : jobs) {
    TRY(const auto is_ours, is_own(each));
    if (is_ours) own.push_back(std::move(each.job));
  }
  return own;
}

Task<Result<void>> SlurmrestdJobs::submit(JobOrder order, Deadline deadline) {
  CO_TRY(auto text, read_trusted_file(job_.script, kMostOfScript));
  CO_TRY(const auto script, parse_batch_script(std::move(text), job_.script));
  const auto output = output_of(order.name);
  SlurmrestdApi::ForVersion request = [&](int version) {
    const auto body = rest_submission(order, script, partition(), job_, output, version);
    return ApiRequest{.method = "POST", .path = "/job/submit", .body = json::serialize(body)};
  };
  const auto answer = co_await api_.ask(std::move(request), deadline);
  if (!answer) co_return of_submission(answer.error());
  const auto taken = api_.check(*answer);
  if (!taken) co_return of_submission(taken.error());
  auto id = id_at(answer->body, "job_id");
  if (id.empty()) id = id_at(answer->body, "result/job_id");
  // Without one find() lists the jobs.
  if (!id.empty()) ids_ = {std::move(id)};
  co_return ok();
}

Task<Result<std::vector<SlurmJobState>>> SlurmrestdJobs::listed(std::string name,
                                                                Deadline deadline) {
  SlurmrestdApi::ForVersion request = [](int) {
    return ApiRequest{.path = "/jobs", .most = kMostOfList};
  };
  CO_TRY(const auto answer, co_await api_.ask(std::move(request), deadline));
  CO_TRY(api_.check(answer));
  co_return own_jobs(answer.body, name);
}

Task<Result<std::vector<SlurmJobState>>> SlurmrestdJobs::of_known_ids(std::string name,
                                                                      Deadline deadline) {
  Jobs found;
  for (const auto& id : ids_) {
    SlurmrestdApi::ForVersion request = [path = "/job/" + id](int) {
      return ApiRequest{.path = path};
    };
    CO_TRY(const auto answer, co_await api_.ask(std::move(request), deadline));
    if (is_gone(answer)) continue;
    CO_TRY(api_.check(answer));
    CO_TRY(auto jobs, own_jobs(answer.body, name));
    std::ranges::move(jobs, std::back_inserter(found));
  }
  co_return found;
}

Task<Result<std::vector<SlurmJobState>>> SlurmrestdJobs::accounted(std::string name,
                                                                   Deadline deadline) {
  ApiRequest request;
  request.path = "/jobs?job_name=" + in_url(name);
  CO_TRY(const auto answer, co_await api_.ask_accounting(std::move(request), deadline));
  CO_TRY(api_.check(answer));
  co_return own_jobs(answer.body, name);
}

/// Where there are more jobs than can be listed, the accounting may know this one.
Task<Result<std::vector<SlurmJobState>>> SlurmrestdJobs::by_name(std::string name,
                                                                 Deadline deadline) {
  auto all = co_await listed(name, deadline);
  if (all || all.error().code != Code::kMalformed) co_return all;
  auto kept = co_await accounted(name, deadline);
  if (kept && !kept->empty()) co_return kept;
  co_return all;
}

Task<Result<std::vector<SlurmJobState>>> SlurmrestdJobs::find(std::string name, Deadline deadline) {
  Jobs found;
  if (ids_.empty() || ids_.size() > kMostAskedOneByOne) {
    CO_TRY(found, co_await by_name(name, deadline));
    ids_.clear();
    for (const auto& job : found) ids_.push_back(job.id);
  } else {
    CO_TRY(found, co_await of_known_ids(name, deadline));
  }
  if (!found.empty()) co_return found;
  auto kept = co_await accounted(name, deadline);
  if (!kept && kept.error().code == Code::kCancelled) co_return std::move(kept).error();
  // A site without accounting has no more to say.
  co_return kept ? *std::move(kept) : found;
}

Task<Result<void>> SlurmrestdJobs::end_one(std::string id, Deadline deadline) {
  SlurmrestdApi::ForVersion request = [path = "/job/" + id](int) {
    return ApiRequest{.method = "DELETE", .path = path};
  };
  CO_TRY(const auto answer, co_await api_.ask(std::move(request), deadline));
  if (is_gone(answer)) co_return ok();
  co_return api_.check(answer);
}

Task<Result<void>> SlurmrestdJobs::cancel(std::string name, Deadline deadline) {
  CO_TRY(const auto jobs, co_await by_name(name, deadline));
  for (const auto& job : jobs) {
    if (job.over()) continue;
    CO_TRY(co_await end_one(job.id, deadline));
  }
  co_return ok();
}

}  // namespace cupel::handoff

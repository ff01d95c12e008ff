#include "inventory/read_slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <tuple>

#include "base/never_null.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/names.h"
#include "inventory/read_access.h"

namespace cupel::inventory {
namespace {

using Folder = std::filesystem::path;
using Problems = std::vector<Problem>;

constexpr std::size_t kLongestUrl = 2000;
constexpr std::size_t kLongestSocketPath = 107;  // sockaddr_un, with its terminating zero 108
constexpr std::string_view kUnix = "unix:";

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_loopback(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(host, failed);
  return !failed && address.is_loopback();
}

/// What is asked at the site, with whose word.
struct Server {
  std::string url{};
  std::optional<SecretRef> token{};
  std::string ca{};
};

Server read_server(YamlFields& fields, std::string_view key, bool unix_socket,
                   const Folder& folder) {
  Server server{.url = server_url_of(fields, key, unix_socket)};
  if (server.url.starts_with("unix:///")) server.url.erase(kUnix.size(), 2);
  if (const auto token = fields.text("token")) {
    server.token = secret_of(*token, folder);
    if (server.token)
      server.token->named = fields.place("token");
    else
      fields.report(fields.place("token"),
                    "token must say where it is kept: env:NAME, file:PATH or cmd:COMMAND");
  } else if (!server.url.starts_with(kUnix)) {
    fields.report(fields.place(), fmt::format("{} needs token: file:PATH", key));
  }
  server.ca = server_ca_of(fields, folder);
  return server;
}

SlurmRest read_rest(const YamlValue& value, const Folder& folder, const std::string& file,
                    Problems& problems) {
  YamlFields fields{value, "rest", file, problems};
  auto server = read_server(fields, "url", true, folder);
  SlurmRest rest{.url = std::move(server.url),
                 .user = fields.text("user").value_or(""),
                 .token = std::move(server.token),
                 .ca = std::move(server.ca)};
  if (!rest.user.empty())
    if (const auto fault = fault_in_name(Named::user, rest.user))
      fields.report(fields.place("user"), *fault);
  fields.finish();
  return rest;
}

/// A file or folder of a job. It is in a command line of sbatch, which takes % in the name of an
/// output for a pattern.
std::string job_path(YamlFields& fields, std::string_view key, const Folder& folder) {
  const auto written = fields.required(key);
  if (written.empty()) return {};
  auto path = path_from(folder, written).string();
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:";
  if (path.find_first_not_of(kPlain) != path.npos)
    fields.report(fields.place(key),
                  fmt::format("{} must be a path of letters, digits and /._-+@:", key));
  return path;
}

SlurmJob read_job(const YamlValue& value, const Folder& folder, const std::string& file,
                  Problems& problems) {
  YamlFields fields{value, "job", file, problems};
  SlurmJob job;
  job.where = fields.place();
  job.name = fields.required("name");
  job.script = job_path(fields, "script", folder);
  job.results = job_path(fields, "results", folder);
  job.partition = fields.text("partition").value_or("");
  job.reservation = fields.text("reservation").value_or("");
  const std::array named{std::tuple{"name", Named::job, &job.name},
                         std::tuple{"partition", Named::partition, &job.partition},
                         std::tuple{"reservation", Named::reservation, &job.reservation}};
  for (const auto& [key, what, text] : named)
    if (const auto fault = text->empty() ? std::nullopt : fault_in_name(what, *text))
      fields.report(fields.place(key), *fault);
  if (!job.script.empty())
    if (const auto why = why_no_file(job.script)) fields.report(fields.place("script"), *why);
  fields.finish();
  return job;
}

void read_jobs(YamlFields& fields, const Folder& folder, const std::string& file, SlurmSite& slurm,
               Problems& problems) {
  constexpr std::size_t kMostJobs = 100;
  const auto list = fields.list("jobs");
  if (list.size() > kMostJobs)
    return fields.report(fields.place("jobs"), fmt::format("more than {} jobs", kMostJobs));
  for (const auto& value : list) {
    auto job = read_job(value, folder, file, problems);
    if (!job.name.empty() && slurm.job(job.name) != nullptr)
      fields.report(job.where, fmt::format("there are two jobs '{}'", job.name));
    slurm.jobs.push_back(std::move(job));
  }
}

void read_slurm(const YamlValue& value, const Folder& folder, Inventory& into, Problems& problems) {
  YamlFields fields{value, "slurm", into.file, problems};
  SlurmSite slurm;
  slurm.where = fields.place();
  slurm.partition = fields.text("partition").value_or(slurm.partition);
  slurm.features = fields.texts("features");
  if (const auto fault = fault_in_name(Named::partition, slurm.partition))
    fields.report(fields.place("partition"), *fault);
  if (const auto fault = fault_in_names(Named::feature, slurm.features))
    fields.report(fields.place("features"), *fault);
  if (const auto file = fields.text("configuration"))
    slurm.configuration = (folder / *file).lexically_normal().string();
  slurm.reservation = fields.flag("reservation").value_or(false);
  if (const auto* rest = fields.value("rest"))
    slurm.rest = read_rest(*rest, folder, into.file, problems);
  if (slurm.rest && slurm.reservation)
    fields.report(fields.place("reservation"),
                  "slurmrestd offers no reservations: leave out reservation, or rest");
  read_jobs(fields, folder, into.file, slurm, problems);
  fields.finish();
  into.slurm = std::move(slurm);
}

void read_label(YamlFields& fields, KubernetesSite& kubernetes) {
  const auto label = fields.text("label");
  if (!label) return;
  const auto equals = label->find('=');
  kubernetes.label = label->substr(0, equals);
  if (equals != label->npos) kubernetes.label_value = label->substr(equals + 1);
  if (equals == label->npos || !is_kubernetes_key(kubernetes.label) ||
      !is_kubernetes_value(kubernetes.label_value))
    fields.report(fields.place("label"),
                  "label is KEY=VALUE as Kubernetes takes them, such as cupel/qualified=yes");
}

void read_kubernetes(const YamlValue& value, const Folder& folder, Inventory& into,
                     Problems& problems) {
  YamlFields fields{value, "kubernetes", into.file, problems};
  KubernetesSite kubernetes;
  kubernetes.where = fields.place();
  auto server = read_server(fields, "server", false, folder);
  kubernetes.server = std::move(server.url);
  kubernetes.token = std::move(server.token).value_or(SecretRef{});
  kubernetes.ca = std::move(server.ca);
  read_label(fields, kubernetes);
  kubernetes.taint = fields.text("taint").value_or(kubernetes.taint);
  if (!is_kubernetes_key(kubernetes.taint))
    fields.report(fields.place("taint"),
                  "taint is a key as Kubernetes takes them, such as cupel/not-qualified");
  kubernetes.condition = fields.text("condition").value_or("");
  // A condition's type is a qualified name, as a key is. Source: Kubernetes API conventions.
  if (!kubernetes.condition.empty() && !is_kubernetes_key(kubernetes.condition))
    fields.report(fields.place("condition"),
                  "condition is a type as Kubernetes takes them, such as CupelQualified");
  // Cupel reads Ready to see whether the kubelet lives: its own word would be taken for that.
  constexpr std::array<std::string_view, 5> kOfKubelet{"Ready", "MemoryPressure", "DiskPressure",
                                                       "PIDPressure", "NetworkUnavailable"};
  if (std::ranges::find(kOfKubelet, kubernetes.condition) != kOfKubelet.end())
    fields.report(fields.place("condition"),
                  fmt::format("condition {} is the kubelet's own: name another, such as "
                              "CupelQualified",
                              kubernetes.condition));
  fields.finish();
  into.kubernetes = std::move(kubernetes);
}

}  // namespace

const SlurmJob* SlurmSite::job(std::string_view name) const {
  const auto found = std::ranges::find(jobs, name, &SlurmJob::name);
  return found == jobs.end() ? nullptr : &*found;
}

bool is_subdomain(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  if (text.empty() || text.size() > kLongest) return false;
  return std::ranges::all_of(split(text, '.'), [](std::string_view part) {
    return !part.empty() && is_alphanumeric(part.front()) && is_alphanumeric(part.back()) &&
           std::ranges::all_of(part, [](char c) {
             return c == '-' || (is_alphanumeric(c) && (c < 'A' || c > 'Z'));
           });
  });
}

bool is_kubernetes_value(std::string_view value) {
  constexpr std::size_t kLongest = 63;
  return value.empty() || (value.size() <= kLongest && is_alphanumeric(value.front()) &&
                           is_alphanumeric(value.back()) && std::ranges::all_of(value, [](char c) {
                             return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
                           }));
}

bool is_kubernetes_key(std::string_view key) {
  const auto slash = key.find('/');
  const auto name = slash == key.npos ? key : key.substr(slash + 1);
  return !name.empty() && is_kubernetes_value(name) &&
         (slash == key.npos || is_subdomain(key.substr(0, slash)));
}

std::optional<std::string> fault_in_server_url(std::string_view url, bool unix_socket) {
  if (unix_socket && url.starts_with(kUnix)) {
    auto path = url.substr(kUnix.size());
    if (path.starts_with("///")) path.remove_prefix(2);  // with an empty host: RFC 3986, 3.2.2
    const bool is_path = path.starts_with('/') && !path.starts_with("//");
    if (is_path && path.size() <= kLongestSocketPath) return std::nullopt;
    return "of a Unix socket is unix:/PATH or unix:///PATH, and the path 107 characters at most";
  }
  const auto parsed = boost::urls::parse_uri(never_null(url));
  if (!parsed || url.size() > kLongestUrl || parsed->host().empty())
    return "is no URL such as https://slurm.example.com:6820";
  if (parsed->has_userinfo() || parsed->has_query() || parsed->has_fragment())
    return "has a host, a port and a path: no user, no query (?) and no fragment (#)";
  const auto scheme = lower_case(parsed->scheme());
  if (scheme != "https" && !(scheme == "http" && is_loopback(parsed->host())))
    return "must begin with https://; http:// goes to loopback addresses alone";
  return std::nullopt;
}

std::string server_url_of(YamlFields& fields, std::string_view key, bool unix_socket) {
  auto url = fields.required(key);
  if (!url.empty())
    if (const auto fault = fault_in_server_url(url, unix_socket))
      fields.report(fields.place(key), fmt::format("{} {}", key, *fault));
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string server_ca_of(YamlFields& fields, const Folder& folder) {
  const auto written = fields.text("ca");
  if (!written) return {};
  auto file = path_from(folder, *written).string();
  if (const auto why = absence(file)) fields.report(fields.place("ca"), *why);
  return file;
}

void read_schedulers(YamlFields& site, const Folder& folder, Inventory& into, Problems& problems) {
  if (const auto* value = site.value("slurm")) read_slurm(*value, folder, into, problems);
  if (const auto* value = site.value("kubernetes")) read_kubernetes(*value, folder, into, problems);
}

}  // namespace cupel::inventory

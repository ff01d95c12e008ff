#include "burnin/disk/fio.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin::fio {
namespace {

constexpr std::size_t kMostDrives = 256;

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

/// errno values by which a kernel says that a drive did not do its work (asm-generic/errno.h), and
/// EILSEQ, by which fio says that a block came back wrong.
bool blames_drive(int error) {
  constexpr std::array kOfDrives{5, 6, 19, 61, 74, 84, 110, 121};
  return std::ranges::find(kOfDrives, error) != kOfDrives.end();
}

/// "nvme12n1" is nvme12.
std::string without_name_space(std::string device) {
  const auto space = device.rfind('n');
  const bool nvme = device.starts_with("nvme") && space != device.npos && space > 4;
  if (nvme) device.resize(space);
  return device;
}

}  // namespace

std::string_view json_of(std::string_view text) {
  const char *begin = nullptr, *end = nullptr;
  for (const auto line : lines(text)) {
    if (begin == nullptr && line == "{") begin = line.data();
    if (line == "}") end = line.data() + line.size();
  }
  if (begin == nullptr) return {};
  if (end == nullptr || end <= begin) end = text.data() + text.size();
  return {begin, static_cast<std::size_t>(end - begin)};
}

const json::value* job_named(const json::value& root, std::string_view name) {
  const auto* jobs = find(root, "jobs");
  const auto* list = jobs == nullptr ? nullptr : jobs->if_array();
  if (list == nullptr) return nullptr;
  for (const auto& job : *list)
    if (text_at(job, "jobname") == name) return &job;
  return nullptr;
}

std::optional<double> amount(const json::value& root, std::string_view path) {
  const auto value = number_at(root, path);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

Result<double> errors_of(const json::value& job, std::string_view name) {
  const auto error = amount(job, "error");
  if (!error) return nothing_proven(fmt::format("fio does not say how job {} ended", name));
  const auto total = amount(job, "total_err").value_or(0);
  if (*error == 0) return total;
  const bool known = *error < 4096 && blames_drive(static_cast<int>(*error));
  if (!known && total == 0)
    return nothing_proven(
        fmt::format("fio job {} ended with error {}: {}", name, *error,
                    *error < 4096 ? std::strerror(static_cast<int>(*error)) : "unknown"));
  return std::max(total, 1.0);
}

Result<double> verified(const json::value& root, double bytes) {
  const auto* job = job_named(root, "verify");
  if (job == nullptr) return nothing_proven("fio tells nothing of the verification");
  TRY(const auto errors, errors_of(*job, "verify"));
  const auto read = amount(*job, "read/io_bytes").value_or(0);
  const auto written = amount(*job, "write/io_bytes").value_or(0);
  if (errors == 0 && std::min(read, written) < bytes)
    return nothing_proven(
        fmt::format("fio verified {} of {}", size_text(std::min(read, written)), size_text(bytes)));
  return errors;
}

std::optional<Speed> speed_of(const json::value& job, std::string_view way, double seconds) {
  const std::string at{way};
  const auto bytes = amount(job, at + "/io_bytes"), rate = amount(job, at + "/bw_bytes");
  const auto millis = amount(job, at + "/runtime");
  if (!bytes || !rate || !millis || *bytes == 0 || *millis < 900 * seconds) return std::nullopt;
  Speed speed{.gigabytes = *rate / 1e9, .operations = amount(job, at + "/iops").value_or(0)};
  for (const auto* kind : {"clat_ns", "lat_ns"}) {
    const auto* percentiles = find(job, at + "/" + kind + "/percentile");
    const auto nanoseconds =
        percentiles == nullptr ? std::nullopt : amount(*percentiles, "99.000000");
    if (!nanoseconds) continue;
    speed.p99_us = *nanoseconds / 1e3;
    break;
  }
  return speed;
}

std::vector<Drive> drives_under(const json::value& root) {
  const auto* devices = find(root, "disk_util");
  const auto* list = devices == nullptr ? nullptr : devices->if_array();
  if (list == nullptr) return {};
  std::vector<Drive> drives;
  for (const auto& device : *list) {
    if (find(device, "aggr_read_ios") != nullptr || drives.size() == kMostDrives) continue;
    const auto name = without_name_space(script::clean(text_at(device, "name").value_or("")));
    if (name.empty()) continue;
    const double operations =
        amount(device, "read_ios").value_or(0) + amount(device, "write_ios").value_or(0);
    const auto known = std::ranges::find(drives, name, &Drive::name);
    if (known == drives.end())
      drives.push_back({name, operations});
    else
      known->operations += operations;
  }
  return drives;
}

}  // namespace cupel::burnin::fio

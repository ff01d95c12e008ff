#include "burnin/disk/disk.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "burnin/disk/fio.h"
#include "burnin/disk/scratch_folder.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{
    ParameterRow{"directory", ParameterRow::Kind::folder, "where the scratch file lies",
                 "/var/tmp"},
    ParameterRow{
        "size", ParameterRow::Kind::size, "of the scratch file", "4GiB", {}, 16 * kMiB, 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of writing, and again of reading",
                 "60s",
                 {},
                 1,
                 kDay},
};
constexpr std::array<std::string_view, 5> kMeasures{"disk.errors", "disk.write.bandwidth",
                                                    "disk.read.bandwidth", "disk.write.latency.p99",
                                                    "disk.read.latency.p99"};

constexpr double kBlock = 4 * kMiB;
constexpr double kUsual = 500e6;  // bytes a second; for the ETA
constexpr double kSick = 20e6;    // a drive slower than this counts as hung
constexpr double kSpare = 1.1;    // of the size must be free

/// Gives up where the test would fill the file system, or would test memory instead of a drive.
/// What an earlier test left is removed, but only this node's and only where its shell is gone: the
/// folder may be one that nodes share.
constexpr std::string_view kCheckFolder = R"sh(if [ ! -d "$directory" ]; then
  echo "cupel-gave-up: there is no folder $directory on the node"
  exit 73
fi
directory=$(cd -P "$directory" && pwd -P) || exit 73
directory=${directory%/}
host=$(uname -n)
for old in "$directory/cupel-disk.$host".*; do
  owner=${old#"$directory/cupel-disk.$host."}
  owner=${owner%%.*}
  [ -d "$old" ] && ! kill -0 "$owner" 2>/dev/null && remove_scratch "$old"
done
set -- $(df -Pk "$directory/" | tail -n 1)
if [ "$1" = tmpfs ]; then
  echo "cupel-gave-up: $directory is in memory (tmpfs), not on a drive"
  exit 73
fi
if ! [ "$4" -ge "$need" ]; then
  echo "cupel-gave-up: not enough space in $directory: $need KiB needed, '$4' KiB free"
  exit 73
fi
)sh";

/// Whether O_DIRECT is taken is tried with dd: fio would end all of its jobs over it.
constexpr std::string_view kScratch = R"sh(scratch=
trap '[ -z "$scratch" ] || remove_scratch "$scratch"' EXIT
trap 'exit 143' HUP INT TERM
scratch=$(mktemp -d "$directory/cupel-disk.$host.$$.XXXXXX") || exit 73
enter_scratch "$scratch" || exit 73
direct=1
if ! dd if=/dev/zero of=./file bs=1048576 count=1 oflag=direct 2>/dev/null; then
  direct=0
fi
rm -f ./file
echo "cupel-direct: $direct"
)sh";

/// Three jobs, one after the other. `verify` knows no time: a verification cut short proves less
/// than it says.
std::string jobs_of(double size, seconds runtime) {
  return fmt::format(
      "fio --output-format=json --filename=./file --size={:.0f} "
      "--bs={:.0f} --ioengine=psync --direct=$direct "
      "--name=write --rw=write --end_fsync=1 --time_based --runtime={} "
      "--name=verify --stonewall --rw=write --verify=crc32c --do_verify=1 --verify_state_save=0 "
      "--continue_on_error=verify "
      "--name=read --stonewall --rw=read --time_based --runtime={}\n",
      size, kBlock, runtime.count(), runtime.count());
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto folder, folder_parameter(kParameters, parameters, "directory"));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  std::string text = script::head() + script::needs("fio") + script::asks("bytes", size) +
                     script::asks("seconds", static_cast<double>(runtime.count()));
  text += "directory=" + shell_quoted(folder) + "\n";
  text += fmt::format("need={:.0f}\n", std::ceil(size * kSpare / 1024));
  text += scratch_functions();
  text += kCheckFolder;
  text += kScratch;
  text += jobs_of(size, runtime);
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  return Job{std::move(text), 2 * runtime + at(kUsual) + seconds{3},
             2 * runtime + at(kSick) + seconds{120}};
}

struct Asked {
  double bytes = 0;
  double seconds = 0;
};

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Way {
  std::string_view job;        // "write"
  std::string_view bandwidth;  // names of the measurements
  std::string_view latency;
};
constexpr std::array kWays{
    Way{"write", "disk.write.bandwidth", "disk.write.latency.p99"},
    Way{"read", "disk.read.bandwidth", "disk.read.latency.p99"},
};

void add_speed(const json::value& job, const Way& way, const Asked& asked, Findings& findings) {
  const auto speed = fio::speed_of(job, way.job, asked.seconds);
  if (!speed) {
    findings.unknown.push_back({std::string{way.bandwidth}, fmt::format("fio job {}", way.job),
                                "it ran shorter than requested"});
    return;
  }
  findings.measurements.push_back({std::string{way.bandwidth}, "", speed->gigabytes, "GB/s"});
  if (speed->p99_us)
    findings.measurements.push_back({std::string{way.latency}, "", *speed->p99_us, "us"});
}

Result<Findings> read_jobs(const json::value& root, const Asked& asked, bool direct) {
  Findings findings;
  TRY(auto errors, fio::verified(root, asked.bytes));
  for (const auto& way : kWays) {
    const auto* job = fio::job_named(root, way.job);
    if (job == nullptr) {
      findings.unknown.push_back({std::string{way.bandwidth}, "fio", "no such job in its output"});
      continue;
    }
    TRY(const auto failed, fio::errors_of(*job, way.job));
    errors += failed;
    if (direct) add_speed(*job, way, asked, findings);
  }
  findings.measurements.insert(findings.measurements.begin(),
                               {"disk.errors", "", errors, "errors"});
  return findings;
}

/// The one drive under the folder; empty where there are several, or none was told.
std::string drive_of(const json::value& root) {
  const auto drives = fio::drives_under(root);
  return drives.size() == 1 ? drives.front().name : std::string{};
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  const auto direct = script::said(output, "cupel-direct: ");
  if (!bytes || !time || !direct)
    return nothing_proven("fio was not started: " + script::complaint(output));
  const auto text = fio::json_of(output.text);
  if (text.empty()) return nothing_proven("fio reported nothing: " + script::complaint(output));
  TRY(const auto root, within("fio", parse_json(text)));
  TRY(auto findings, read_jobs(root, {*bytes, *time}, *direct == "1"));
  const auto drive = drive_of(root);
  for (auto& each : findings.measurements) each.traced_to = drive;
  if (*direct != "1")
    for (const auto& way : kWays)
      findings.unknown.push_back({std::string{way.bandwidth}, "dd oflag=direct",
                                  "the file system refuses O_DIRECT: the page cache's speed is not "
                                  "the drive's"});
  return findings;
}

}  // namespace

Stage disk() {
  return {"disk",
          "write, verify and read a scratch file, and how fast (fio, crc32c)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.2, "one drive of many under load, and the CPU time of checksums"}};
}

}  // namespace cupel::burnin

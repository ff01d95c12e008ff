#include "burnin/disk/nvme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/disk/fio.h"
#include "burnin/disk/scratch_folder.h"
#include "burnin/node/drive_health.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kRawWords{"no", "yes", "force"};
constexpr std::array kParameters{
    ParameterRow{"drives", ParameterRow::Kind::text, "all, or names with commas between", "all"},
    ParameterRow{"size",
                 ParameterRow::Kind::size,
                 "what is written and verified on each",
                 "4GiB",
                 {},
                 16 * kMiB,
                 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of each of four measurements",
                 "30s",
                 {},
                 1,
                 kDay},
    ParameterRow{.name = "raw",
                 .kind = ParameterRow::Kind::word,
                 .summary = "whether drives that hold nothing are written themselves",
                 .fallback = "no",
                 .words = kRawWords},
};
constexpr std::array<std::string_view, 12> kMeasures{"nvme.errors",
                                                     "nvme.write.bandwidth",
                                                     "nvme.read.bandwidth",
                                                     "nvme.write.iops",
                                                     "nvme.read.iops",
                                                     "nvme.write.latency.p99",
                                                     "nvme.read.latency.p99",
                                                     "nvme.media_errors.new",
                                                     "nvme.used",
                                                     "nvme.spare",
                                                     "nvme.warnings",
                                                     "nvme.temperature"};

constexpr double kBlock = kMiB;
constexpr double kUsual = 2e9,
                 kSick = 20e6;  // bytes a second: for the ETA, and what counts as hung
constexpr double kSpare = 1.1;  // of the size must be free
constexpr std::size_t kMostDrives = 256;

bool is_drive_name(std::string_view name) {
  const auto digits = name.starts_with("nvme") ? name.substr(4) : std::string_view{};
  return !digits.empty() && digits.size() <= 4 && number<int>(digits).has_value() &&
         digits.find_first_not_of("0123456789") == digits.npos;
}

/// "" for all, else their names with spaces between.
Result<std::string> drives_of(const Parameters& parameters) {
  const auto written = text_parameter(kParameters, parameters, "drives");
  if (written == "all") return std::string{};
  std::string names;
  for (const auto piece : split(written, ',')) {
    const auto name = trimmed(piece);
    if (!is_drive_name(name) || names.size() > 4096)
      return Error{Code::kInvalid,
                   fmt::format("drives must be all, or names like nvme0,nvme1, not '{}'",
                               shortened(printable(written), 80))};
    names += fmt::format("{}{}", names.empty() ? "" : " ", name);
  }
  return names;
}

Result<std::string> raw_of(const Parameters& parameters, const std::string& drives) {
  const std::string raw{text_parameter(kParameters, parameters, "raw")};
  if (std::ranges::find(kRawWords, std::string_view{raw}) == kRawWords.end())
    return Error{Code::kInvalid, fmt::format("raw must be no, yes or force, not '{}'",
                                             shortened(printable(raw), 80))};
  if (raw == "force" && drives.empty())
    return Error{Code::kInvalid,
                 "raw: force overwrites what drives hold: name them in drives, not 'all'"};
  return raw;
}

/// What speaks against writing to the device itself; nothing where nothing does. `bound` cannot be
/// forced: it is in use at this moment. ZFS alone leaves no holder in /sys.
constexpr std::string_view kInUse = R"sh(bound() {
  for each in "$sys/block/$1"/holders/* "$sys/block/$1/$1"p*/holders/*; do
    if [ -e "$each" ]; then echo "it is held by ${each##*/}"; return; fi
  done
  if grep -q -e "^$dev/$1 " -e "^$dev/$1p[0-9]* " "$proc/swaps" 2>/dev/null; then
    echo 'it is swapped on'
  elif grep -q -e "^$dev/$1 " -e "^$dev/$1p[0-9]* " "$proc/mounts"; then
    echo 'it is mounted'
  elif lsblk -n -P -o MOUNTPOINT "$dev/$1" | grep -q -v '=""'; then
    echo 'it is mounted'
  elif command -v zpool >/dev/null 2>&1 && zpool status -LP 2>/dev/null | grep -q -w -e "$dev/$1" -e "$dev/$1p[0-9]*"; then
    echo 'it belongs to a ZFS pool that is imported'
  fi
}
holds() {
  for each in "$sys/block/$1/$1"p*; do
    if [ -e "$each" ]; then echo 'it has partitions'; return; fi
  done
  found=$(blkid -p "$dev/$1" 2>&1)
  case $? in
    0) echo "blkid finds on it: ${found#*: }"; return ;;
    2) ;;
    *) echo "blkid cannot tell what is on it: $found"; return ;;
  esac
  found=$(lsblk -n -P -o FSTYPE,PTTYPE "$dev/$1" 2>&1)
  case $? in 0) ;; *) echo "lsblk cannot tell what is on it: $found"; return ;; esac
  case $(echo "$found" | grep -v -x 'FSTYPE="" PTTYPE=""') in
    '') ;;
    *) echo "lsblk finds on it: $found" ;;
  esac
}
)sh";

/// The drives that are asked for, each with the file systems on it or the device itself.
constexpr std::string_view kFind = R"sh(work= jobs= folders=
clean_up() {
  for each in $jobs; do
    each=${each#*:}
    kill "${each%%:*}" 2>/dev/null
  done
  for each in $folders; do remove_scratch "$each"; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' HUP INT TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/cupel-nvme.XXXXXX") || exit 73
host=$(uname -n)
: >"$work/files"
if [ -z "$drives" ]; then
  for each in "$sys"/class/nvme/nvme*; do
    kind=pcie
    [ -r "$each/transport" ] && read -r kind <"$each/transport"
    if [ -d "$each" ] && [ "$kind" = pcie ]; then drives="$drives ${each##*/}"; fi
  done
fi
if [ -z "$drives" ]; then
  echo 'cupel-gave-up: the node has no NVMe drive'
  exit 69
fi
raws=
for drive in $drives; do
  space=
  for each in "$sys/block/${drive}n"*; do
    if [ -d "$each" ]; then space=${each##*/}; break; fi
  done
  if [ -z "$space" ]; then
    echo "cupel-untested: $drive asked: it has no name space, or is not there"
    continue
  fi
  mount=
  for each in $(lsblk -n -P -o MOUNTPOINT "$dev/$space" | cut -d '"' -f 2 | sort -u); do
    case $each in /boot* | *[!A-Za-z0-9/._-]*) ;; /*) mount=$each ;; esac
  done
  if [ -n "$mount" ]; then
    echo "$mount" >>"$work/files"
    echo "cupel-drive: $drive $mount"
    continue
  fi
  why=$(bound "$space")
  if [ -z "$why" ] && [ "$raw" != force ]; then why=$(holds "$space"); fi
  if [ -n "$why" ]; then
    scope=asked
    [ "$raw$named" = no ] && scope=aside
    echo "cupel-untested: $drive $scope: $why"
  elif [ "$raw" = no ]; then
    scope=aside
    [ -n "$named" ] && scope=asked
    echo "cupel-untested: $drive $scope: no file system of it is mounted, and raw is no"
  else
    echo "cupel-drive: $drive $dev/$space"
    raws="$raws $drive:$space"
  fi
done
)sh";

/// One fio for each, all at once.
constexpr std::string_view kBurn = R"sh(engine=psync
if fio --enghelp 2>/dev/null | grep -q libaio; then engine=libaio; fi
echo "cupel-engine: $engine"
smart() {
  command -v smartctl >/dev/null 2>&1 || return 0
  for drive in $drives; do
    echo "cupel-begin: smart-$1 $drive"
    smartctl -j -A "$dev/$drive"
    echo cupel-end
  done
}
burn() {
  fio --output-format=json "$1" "--direct=$2" --size="$size" --ioengine="$engine" --name=write --rw=write --bs=1m --iodepth=16 --end_fsync=1 --time_based --runtime="$runtime" --name=verify --stonewall --rw=write --bs=1m --iodepth=16 --verify=crc32c --do_verify=1 --verify_state_save=0 --continue_on_error=verify --name=read --stonewall --rw=read --bs=1m --iodepth=16 --time_based --runtime="$runtime" --name=randread --stonewall --rw=randread --bs=4k --iodepth=64 --time_based --runtime="$runtime" --name=randwrite --stonewall --rw=randwrite --bs=4k --iodepth=64 --time_based --runtime="$runtime"
}
smart before
number=0
for mount in $(sort -u "$work/files"); do
  number=$((number + 1))
  set -- $(df -Pk "$mount" | tail -n 1)
  if ! [ "$4" -ge "$need" ]; then
    echo "cupel-begin: fio $number $mount 0"
    echo "cupel-short: not enough space in $mount: $need KiB needed, '$4' KiB free"
    echo cupel-end
    continue
  fi
  folder=$(mktemp -d "${mount%/}/cupel-nvme.$host.$$.XXXXXX") || exit 73
  folders="$folders $folder"
  enter_scratch "$folder" || exit 73
  direct=1
  if ! dd if=/dev/zero of=./file bs=1048576 count=1 oflag=direct 2>/dev/null; then direct=0; fi
  burn --filename=./file "$direct" >"$work/$number" 2>&1 &
  jobs="$jobs $number:$!:$mount:$direct"
  cd /
done
for each in $raws; do
  number=$((number + 1))
  burn "--filename=$dev/${each#*:}" 1 >"$work/$number" 2>&1 &
  jobs="$jobs $number:$!:${each%%:*}:1"
done
for each in $jobs; do
  number=${each%%:*}
  rest=${each#*:}
  wait "${rest%%:*}"
  rest=${rest#*:}
  echo "cupel-begin: fio $number ${rest%:*} ${rest##*:}"
  cat "$work/$number"
  echo cupel-end
done
jobs=
smart after
echo cupel-all-told
)sh";

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto drives, drives_of(parameters));
  TRY(const auto raw, raw_of(parameters, drives));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  std::string text = script::head() + script::needs("fio") + script::needs("lsblk");
  if (raw != "no") text += script::needs("blkid");
  text +=
      script::asks("bytes", size) + script::asks("seconds", static_cast<double>(runtime.count()));
  text += "sys=/sys dev=/dev proc=/proc\n";
  text += fmt::format("drives={} named={} raw={} size={:.0f} runtime={} need={:.0f}\n",
                      shell_quoted(drives), drives.empty() ? "" : "yes", raw, size, runtime.count(),
                      std::ceil(size * kSpare / 1024));
  text += scratch_functions();
  text += kInUse;
  text += kFind;
  text += kBurn;
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  return Job{std::move(text), 4 * runtime + at(kUsual) + seconds{10},
             4 * runtime + at(kSick) + seconds{300}};
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Asked {
  double bytes = 0, seconds = 0;
  bool many_in_flight = false;  // an engine that keeps several requests in flight
};

struct Way {
  std::string_view job, way, measure;
};
constexpr std::array kSequential{Way{"write", "write", "nvme.write.bandwidth"},
                                 Way{"read", "read", "nvme.read.bandwidth"}};
constexpr std::array kRandom{Way{"randwrite", "write", "nvme.write"},
                             Way{"randread", "read", "nvme.read"}};

void add_unknown(Findings& findings, std::string_view measure, const std::string& part,
                 std::string_view why) {
  findings.unknown.push_back({fmt::format("{} of {}", measure, part), "fio", std::string{why}});
}

void add_random(const Way& way, const fio::Speed& speed, const std::string& part,
                Findings& findings) {
  const std::string name{way.measure};
  findings.measurements.push_back({name + ".iops", part, speed.operations, "IOPS"});
  if (speed.p99_us)
    findings.measurements.push_back({name + ".latency.p99", part, *speed.p99_us, "us"});
}

/// Errors of all jobs, and the speeds where they are the drive's and not the page cache's.
Result<double> read_jobs(const json::value& root, const Asked& asked, const std::string& part,
                         bool direct, Findings& findings) {
  TRY(auto errors, fio::verified(root, asked.bytes));
  const auto each = [&](const Way& way, bool speeds, auto add) -> Result<void> {
    const auto* job = fio::job_named(root, way.job);
    if (job == nullptr) return nothing_proven(fmt::format("fio tells nothing of job {}", way.job));
    TRY(const auto failed, fio::errors_of(*job, way.job));
    errors += failed;
    if (!speeds) return ok();
    const auto speed = fio::speed_of(*job, way.way, asked.seconds);
    if (speed)
      add(*speed);
    else
      add_unknown(findings, way.measure, part, "it ran shorter than requested");
    return ok();
  };
  for (const auto& way : kSequential) {
    TRY(each(way, direct, [&](const fio::Speed& speed) {
      findings.measurements.push_back({std::string{way.measure}, part, speed.gigabytes, "GB/s"});
    }));
  }
  for (const auto& way : kRandom) {
    TRY(each(way, direct && asked.many_in_flight,
             [&](const fio::Speed& speed) { add_random(way, speed, part, findings); }));
  }
  if (!direct)
    add_unknown(findings, "speeds", part,
                "the file system refuses O_DIRECT: the page cache's speed is not the drive's");
  else if (!asked.many_in_flight)
    add_unknown(findings, "nvme.iops", part, "this fio has no libaio: one request at a time");
  return errors;
}

/// The drives on which a file system lies, as lsblk told: one, or several of an array.
std::vector<std::string> drives_on(const std::map<std::string, std::string>& places,
                                   std::string_view place) {
  std::vector<std::string> drives;
  for (const auto& [drive, where] : places)
    if (where == place || drive == place) drives.push_back(drive);
  return drives;
}

/// One fio: of one drive, or of an array. Where nothing was wrong, that is proven for each drive
/// that fio saw work.
Result<void> read_target(std::string_view text, const std::vector<std::string>& drives,
                         const Asked& asked, bool direct, Findings& findings) {
  const auto part = fmt::format("{}", fmt::join(drives, "+"));
  if (const auto why = script::said_in(text, "cupel-short: "))
    return nothing_proven(script::clean(*why));
  const auto report = fio::json_of(text);
  if (report.empty())
    return nothing_proven(fmt::format("{}: fio reported nothing: {}", part,
                                      script::complaint({std::string{text}, "", 0})));
  TRY(const auto root, within("fio", parse_json(report)));
  TRY(const auto errors, within(part, read_jobs(root, asked, part, direct, findings)));
  if (drives.size() == 1 || errors > 0) {
    findings.measurements.push_back({"nvme.errors", part, errors, "errors"});
    return ok();
  }
  const auto used = fio::drives_under(root);
  for (const auto& drive : drives) {
    const auto seen = std::ranges::find(used, drive, &fio::Drive::name);
    if (seen == used.end() || seen->operations <= 0)
      return nothing_proven(fmt::format("fio did not see {} of {} work", drive, part));
    findings.measurements.push_back({"nvme.errors", drive, 0, "errors"});
  }
  return ok();
}

/// "cupel-drive: nvme0 /raid": where each drive was tested.
std::map<std::string, std::string> read_places(std::string_view text) {
  constexpr std::string_view kMark = "cupel-drive: ";
  std::map<std::string, std::string> places;
  for (const auto line : lines(text)) {
    if (!line.starts_with(kMark) || places.size() == kMostDrives) continue;
    const auto cells = words(line.substr(kMark.size()));
    if (cells.size() == 2) places.emplace(script::clean(cells[0]), script::clean(cells[1]));
  }
  return places;
}

/// "cupel-untested: nvme3 asked: WHY". What was asked for and not done is the stage's own answer.
std::string read_untested(std::string_view text, Findings& findings) {
  constexpr std::string_view kMark = "cupel-untested: ";
  std::string undone;
  for (const auto line : lines(text)) {
    if (!line.starts_with(kMark) || findings.unknown.size() > 4 * kMostDrives) continue;
    const auto rest = line.substr(kMark.size());
    const auto space = rest.find(' '), colon = rest.find(": ");
    if (space == rest.npos || colon == rest.npos || space > colon) continue;
    const auto drive = script::clean(rest.substr(0, space));
    const auto why = script::clean(rest.substr(colon + 2));
    findings.unknown.push_back({"whether " + drive + " works", "fio", why});
    if (rest.substr(space + 1, colon - space - 1) == "asked" && undone.empty())
      undone = fmt::format("{} was not tested: {}", drive, why);
  }
  return undone;
}

struct Smart {
  std::map<std::string, Findings> before{}, after{};
};

std::optional<double> value_of(const Findings& findings, std::string_view name) {
  for (const auto& each : findings.measurements)
    if (each.name == name) return each.value;
  return std::nullopt;
}

/// The state after, and what is new since before.
void add_smart(const std::vector<script::Section>& sections, Findings& findings) {
  std::map<std::string, Findings, std::less<>> before;
  bool any = false;
  for (const auto& section : sections) {
    const auto space = section.name.find(' ');
    const auto what = section.name.substr(0, space);
    if (!section.whole || space == std::string::npos || !what.starts_with("smart-")) continue;
    const auto drive = section.name.substr(space + 1);
    Findings told;
    add_drive_health(drive, section.text, told);
    if (what == "smart-before") {
      before[drive] = std::move(told);
      continue;
    }
    any = true;
    const auto errors = value_of(told, "nvme.media_errors");
    const auto earlier = value_of(before[drive], "nvme.media_errors");
    for (auto& each : told.measurements)
      if (each.name != "nvme.media_errors") findings.measurements.push_back(std::move(each));
    std::ranges::move(told.unknown, std::back_inserter(findings.unknown));
    if (errors && earlier && *errors >= *earlier)
      findings.measurements.push_back(
          {"nvme.media_errors.new", drive, *errors - *earlier, "errors"});
  }
  if (!any)
    findings.unknown.push_back(
        {"health of the drives", "smartctl -j -A", "smartctl is not installed on the node"});
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  const auto engine = script::said(output, "cupel-engine: ");
  if (!bytes || !time || !engine)
    return nothing_proven("fio was not started: " + script::complaint(output));
  const Asked asked{*bytes, *time, *engine == "libaio"};
  const auto places = read_places(output.text);
  const auto sections = script::sections(output.text);
  Findings findings;
  auto undone = read_untested(output.text, findings);
  bool failed = false;
  std::size_t targets = 0;
  for (const auto& section : sections) {
    const auto cells = words(section.name);
    if (!section.whole || cells.size() != 4 || cells[0] != "fio") continue;
    const auto drives = drives_on(places, cells[2]);
    if (drives.empty()) continue;
    const auto target = read_target(section.text, drives, asked, cells[3] == "1", findings);
    if (!target && undone.empty()) undone = target.error().what;
    ++targets;
  }
  for (const auto& each : findings.measurements)
    failed |= each.name == "nvme.errors" && each.value > 0;
  if (!script::said(output, "cupel-all-told") && undone.empty())
    undone = "the node's answer is cut short";
  if (targets == 0 && undone.empty())
    undone = "no file system of an NVMe drive is mounted: raw: yes tests those that hold nothing";
  // A wrong block is a finding whatever else was left undone.
  if (!failed && !undone.empty()) return nothing_proven(undone);
  add_smart(sections, findings);
  return findings;
}

}  // namespace

Stage nvme() {
  return {"nvme",
          "every NVMe drive at once: verified, sequential and random, SMART before and after (fio)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.3, "all drives under load, and the CPU time of checksums"}};
}

}  // namespace cupel::burnin

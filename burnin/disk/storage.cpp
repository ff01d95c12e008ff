#include "burnin/disk/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
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
    ParameterRow{"directory", ParameterRow::Kind::folder, "a folder of the shared file system", ""},
    ParameterRow{"type", ParameterRow::Kind::text,
                 "what it must be: lustre, nfs, beegfs, gpfs, weka, ceph, or as in /proc/mounts",
                 ""},
    ParameterRow{"size",
                 ParameterRow::Kind::size,
                 "of this node's scratch file",
                 "4GiB",
                 {},
                 16 * kMiB,
                 16 * kTiB},
    ParameterRow{"runtime",
                 ParameterRow::Kind::duration,
                 "of writing, and again of reading",
                 "60s",
                 {},
                 1,
                 kDay},
};
constexpr std::array<std::string_view, 5> kMeasures{"storage.mounted", "storage.errors",
                                                    "storage.write.bandwidth",
                                                    "storage.read.bandwidth", "storage.nodes"};

constexpr double kBlock = 4 * kMiB;
constexpr double kUsual = 500e6, kSick = 10e6;  // bytes a second: for the ETA; counts as hung
constexpr double kSpare = 1.1;                  // of the size must be free

struct Alias {
  std::string_view said, types;
};
constexpr std::array kAliases{
    Alias{"nfs", "nfs nfs4"},
    Alias{"weka", "wekafs"},
    Alias{"ceph", "ceph fuse.ceph"},
    Alias{"beegfs", "beegfs fuse.beegfs"},
};

bool is_type(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !word.empty() && word.size() <= 32 && std::ranges::all_of(word, plain);
}

/// All types of /proc/mounts that are meant, with spaces between.
Result<std::string> types_of(const Parameters& parameters) {
  const auto written = text_parameter(kParameters, parameters, "type");
  if (!is_type(written))
    return Error{Code::kInvalid,
                 fmt::format("type must be the file system's, as lustre or nfs, not '{}'",
                             shortened(printable(written), 80))};
  for (const auto& alias : kAliases)
    if (alias.said == written) return std::string{alias.types};
  return std::string{written};
}

/// The mount with the longest path above the folder; later lines lie over earlier ones. Blanks in
/// paths are \040 there, and no folder that we take has any.
constexpr std::string_view kCheckMount = R"sh(if [ ! -d "$directory" ]; then
  echo "cupel-mounted: absent at $directory"
  echo cupel-all-told
  exit 0
fi
where=$(cd "$directory" && pwd -P) || exit 73
mount= kind=
while read -r source path type rest; do
  case "$where/" in
    "${path%/}"/*) if [ "${#path}" -ge "${#mount}" ]; then mount=$path kind=$type; fi ;;
  esac
done <"$mounts"
echo "cupel-mounted: ${kind:-nothing} at ${mount:-nowhere}"
right=no
for each in $types; do
  if [ "$each" = "$kind" ]; then right=yes; fi
done
if [ "$right" = no ]; then
  echo cupel-all-told
  exit 0
fi
set -- $(df -Pk "$directory" | tail -n 1)
if ! [ "$4" -ge "$need" ]; then
  echo "cupel-gave-up: not enough space in $directory: $need KiB needed, '$4' KiB free"
  exit 73
fi
)sh";

/// Each node has a folder of its own, with its name and when it came: who counts the neighbours
/// leaves out what an earlier run forgot.
constexpr std::string_view kScratch = R"sh(host=$(uname -n)
scratch= job=
trap '[ -z "$job" ] || kill "$job" 2>/dev/null; [ -z "$scratch" ] || remove_scratch "$scratch"' EXIT
trap 'exit 143' HUP INT TERM
directory=${where%/}
for old in "$directory/cupel-storage.$host".*; do
  owner=${old##*.}
  [ -d "$old" ] && ! kill -0 "${owner%%-*}" 2>/dev/null && remove_scratch "$old"
done
now=$(date +%s)
scratch="$directory/cupel-storage.$host.$now.$$-x"
mkdir -m 700 "$scratch" || { scratch=; exit 73; }
enter_scratch "$scratch" || exit 73
direct=1
if ! dd if=/dev/zero of=./file bs=1048576 count=1 oflag=direct 2>/dev/null; then direct=0; fi
rm -f ./file
engine=psync
if [ "$direct" = 1 ] && fio --enghelp 2>/dev/null | grep -q libaio; then engine=libaio; fi
echo "cupel-direct: $direct"
neighbours() {
  count=0
  for each in "$directory"/cupel-storage.*; do
    began=${each%.*}
    began=${began##*.}
    case $began in '' | *[!0-9]*) continue ;; esac
    if [ "$began" -gt $((now - 600)) ]; then count=$((count + 1)); fi
  done
  echo "cupel-nodes: $count"
}
)sh";

constexpr std::string_view kBurn =
    R"sh(fio --output-format=json --filename=./file --size="$size" --bs=4m --ioengine="$engine" --iodepth=16 --direct="$direct" --name=write --rw=write --end_fsync=1 --time_based --runtime="$runtime" --name=verify --stonewall --rw=write --verify=crc32c --do_verify=1 --verify_state_save=0 --continue_on_error=verify --name=read --stonewall --rw=read --time_based --runtime="$runtime" >./report &
job=$!
sleep $(((runtime + 1) / 2))
neighbours
wait "$job"
job=
cat ./report
echo cupel-all-told
)sh";

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto folder, folder_parameter(kParameters, parameters, "directory"));
  TRY(const auto types, types_of(parameters));
  TRY(auto size, size_parameter(kParameters, parameters, "size"));
  TRY(const auto runtime, duration_parameter(kParameters, parameters, "runtime"));
  size = std::floor(size / kBlock) * kBlock;
  std::string text = script::head() + script::needs("fio") + script::asks("bytes", size) +
                     script::asks("seconds", static_cast<double>(runtime.count()));
  text += fmt::format("echo 'cupel-types: {}'\n", types);
  text += fmt::format("directory={} types={} size={:.0f} runtime={} need={:.0f} mounts={}\n",
                      shell_quoted(folder), shell_quoted(types), size, runtime.count(),
                      std::ceil(size * kSpare / 1024), "/proc/mounts");
  text += scratch_functions();
  text += kCheckMount;
  text += kScratch;
  text += kBurn;
  const auto at = [&](double speed) { return seconds{static_cast<long>(2 * size / speed)}; };
  return Job{std::move(text), 2 * runtime + at(kUsual) + seconds{5},
             2 * runtime + at(kSick) + seconds{180}};
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct Asked {
  double bytes = 0, seconds = 0;
};

void add_unknown(Findings& findings, std::string_view measure, std::string_view why) {
  findings.unknown.push_back({std::string{measure}, "fio", std::string{why}});
}

Result<void> read_report(const json::value& root, const Asked& asked, bool direct,
                         Findings& findings) {
  TRY(auto errors, fio::verified(root, asked.bytes));
  for (const std::string way : {"write", "read"}) {
    const auto measure = "storage." + way + ".bandwidth";
    const auto* job = fio::job_named(root, way);
    if (job == nullptr) return nothing_proven("fio tells nothing of job " + way);
    TRY(const auto failed, fio::errors_of(*job, way));
    errors += failed;
    const auto speed = fio::speed_of(*job, way, asked.seconds);
    if (!direct)
      add_unknown(findings, measure, "the file system refuses O_DIRECT: this would be memory's");
    else if (speed)
      findings.measurements.push_back({measure, "", speed->gigabytes, "GB/s"});
    else
      add_unknown(findings, measure, "the job ran shorter than requested");
  }
  findings.measurements.push_back({"storage.errors", "", errors, "errors"});
  return ok();
}

/// "lustre at /scratch". Nothing else is measured where it is not what was said.
Result<bool> read_mount(const Output& output, Findings& findings) {
  const auto told = script::said(output, "cupel-mounted: ");
  const auto types = script::said(output, "cupel-types: ");
  if (!told || !types) return nothing_proven("the mount is not reported");
  const auto kind = told->substr(0, told->find(" at "));
  const auto wanted = words(*types);
  const bool right = std::ranges::find(wanted, kind) != wanted.end();
  findings.measurements.push_back({"storage.mounted", "", right ? 1.0 : 0.0, ""});
  findings.facts["storage.mount"] = script::clean(*told);
  return right;
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto bytes = script::asked(output, "bytes"), time = script::asked(output, "seconds");
  if (!bytes || !time)
    return nothing_proven("the stage was not started: " + script::complaint(output));
  Findings findings;
  TRY(const bool right, read_mount(output, findings));
  if (!script::said(output, "cupel-all-told"))
    return nothing_proven("fio did not come to its end: " + script::complaint(output));
  if (!right) {
    findings.unknown.push_back({"storage.errors", "/proc/mounts",
                                "nothing was written: the folder lies on another file system"});
    return findings;
  }
  const auto direct = script::said(output, "cupel-direct: ");
  const auto text = fio::json_of(output.text);
  if (!direct || text.empty())
    return nothing_proven("fio reported nothing: " + script::complaint(output));
  TRY(const auto root, within("fio", parse_json(text)));
  TRY(read_report(root, {*bytes, *time}, *direct == "1", findings));
  const auto nodes = script::said(output, "cupel-nodes: ");
  const auto count = nodes ? script::finite(*nodes) : std::nullopt;
  if (count && *count >= 1)
    findings.measurements.push_back({"storage.nodes", "", *count, "count"});
  else
    findings.unknown.push_back({"storage.nodes", "ls", "no folder of a node was seen"});
  return findings;
}

}  // namespace

Stage storage() {
  return {"storage",
          "the shared file system: mounted as it should be, written and verified by all at once",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0.2, "the network, and the CPU time of checksums"}};
}

}  // namespace cupel::burnin

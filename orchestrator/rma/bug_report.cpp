#include "orchestrator/rma/bug_report.h"

#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/ssh/sent_script.h"
#include "orchestrator/store/gzip.h"

namespace cupel::rma {
namespace {

constexpr std::size_t kMostReport = 256u << 20;  // bytes, packed or not
constexpr std::size_t kMostWords = 4096;
constexpr int kNoTool = 127;

/// It adds ".gz" to the name that it is given where the node has gzip. Source: its --help,
/// --output-file.
constexpr std::string_view kScript = R"sh(
command -v nvidia-bug-report.sh >/dev/null 2>&1 || exit 127
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' HUP INT TERM
cd "$folder" || exit 1
nvidia-bug-report.sh --output-file "$folder/report" >said 2>&1 </dev/null
for each in report.gz report; do
  if [ -s "$each" ]; then cat "$each"; exit 0; fi
done
tail -n 3 said >&2
exit 1
)sh";

struct Heard {
  std::string out{}, err{};
  bool too_large = false;

  void take(ssh::Stream stream, std::string_view piece) {
    auto& text = stream == ssh::Stream::out ? out : err;
    const auto most = stream == ssh::Stream::out ? kMostReport : kMostWords;
    const auto room = most - std::min(text.size(), most);
    too_large = too_large || (stream == ssh::Stream::out && piece.size() > room);
    text += piece.substr(0, room);
  }
};

bool is_packed(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

}  // namespace

Task<Result<std::optional<std::string>>> nvidia_bug_report(ssh::Session& session, bool sudo,
                                                           Deadline deadline) {
  Heard heard;
  auto sent = ssh::sent_script(kScript, {}, sudo);
  const ssh::Sink sink = [&heard](ssh::Stream stream, std::string_view piece) {
    heard.take(stream, piece);
  };
  CO_TRY(const auto ended,
         co_await session.run(sent.command, std::move(sent.input), sink, deadline));
  if (ended.exit_status == kNoTool) co_return std::optional<std::string>{};
  if (ended.exit_status != 0 || !ended.exit_signal.empty())
    co_return Error{Code::kFailed, fmt::format("nvidia-bug-report.sh wrote no report: {}",
                                               printable(shortened(heard.err, 300)))};
  if (heard.too_large)
    co_return Error{Code::kUnsupported,
                    fmt::format("nvidia-bug-report.sh wrote more than {} MiB: run it on the node, "
                                "and name its file with --attach",
                                kMostReport >> 20U)};
  if (!is_packed(heard.out)) co_return std::optional{std::move(heard.out)};
  CO_TRY(auto text,
         within("what nvidia-bug-report.sh wrote", store::gunzipped(heard.out, kMostReport)));
  co_return std::optional{std::move(text)};
}

}  // namespace cupel::rma

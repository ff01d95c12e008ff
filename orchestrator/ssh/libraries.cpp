#include "orchestrator/ssh/libraries.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/ownership.h"
#include "base/safe_path.h"
#include "base/text.h"
#include "orchestrator/ssh/run_script.h"

namespace cupel::ssh {
namespace {

constexpr std::size_t kMostLibraries = 16;
constexpr std::uint64_t kMostBytes = 1u << 30;  // of all together
/// Of many nodes at once, each has one piece in memory.
constexpr std::size_t kPiece = 2u << 20;
constexpr std::chrono::seconds kToOpen{60};  // half a gigabyte, from a disk that is cold
constexpr int kDamaged = 74;
constexpr std::string_view kThere = "cupel-library-there";
constexpr std::string_view kSize = "cupel-library-size:";

bool is_plain(std::string_view name) {
  const bool clean = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
  });
  return clean && name.starts_with("lib") && name.contains(".so") && name.size() <= 64;
}

bool is_sum(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Where a library and what has come of it lie on the node, quoted for a shell.
struct Place {
  std::string folder;
  std::string file;
  std::string part;  // named by its content: nobody else's pieces get into it
  /// The beginning of each script: refuses where another user could have touched what lies there.
  std::string check{};
};

Place place_of(const ProgramShelf& shelf, const PackedLibrary& library) {
  const auto folder = shelf.on_node() + "/lib";
  const auto part = folder + "/." + library.name + "." + library.sha256.substr(0, 16) + ".part";
  Place at{shell_quoted(folder), shell_quoted(folder + "/" + library.name), shell_quoted(part)};
  at.check = std::string{safe_path_functions()} + "umask 022\nif [ ! -e " + at.folder +
             " ] && [ ! -L " + at.folder + " ]; then mkdir -p " + at.folder +
             " || exit 73; fi\nwhy=$(cupel_unsafe " + at.folder +
             ")\nif [ -n \"$why\" ]; then cupel_refuse \"$why. Set it right or remove it, and run "
             "this again.\"; fi\nif [ ! -O " +
             at.folder + " ]; then exit 73; fi\nfor each in " + at.file + " " + at.part + " " +
             at.part + ".lock; do if [ -L \"$each\" ]; then rm -f \"$each\"; fi; done\n";
  return at;
}

/// Says that it is there whole, or how much of it is.
std::string look_script(const Place& at, const std::string& sha256) {
  return at.check + "if [ -f " + at.file + " ] && [ \"$(sha256sum < " + at.file + ")\" = \"" +
         sha256 + "  -\" ]; then echo " + std::string{kThere} +
         "; exit 0; fi\n"
         ": >> " +
         at.part +
         " || exit 73\n"
         "echo \"" +
         std::string{kSize} + " $(wc -c < " + at.part + ")\"\n";
}

/// Two controllers may do this at once: a piece is appended by one at a time, where it belongs or
/// not at all. Where there is no room nothing is left: a full disk helps nobody.
std::string piece_script(const Place& at, std::uint64_t from, std::size_t size) {
  const auto append = "if [ \"$(wc -c < " + at.part + ")\" = " + std::to_string(from) +
                      " ]; then cat \"$1\" >> " + at.part + "; fi";
  return at.check + "t=" + at.part +
         ".$$\n"
         "trap 'rm -f \"$t\"' EXIT HUP INT TERM\n"
         "cat > \"$t\" && [ \"$(wc -c < \"$t\")\" = " +
         std::to_string(size) +
         " ] && "
         "flock " +
         at.part + ".lock sh -c " + shell_quoted(append) +
         " sh \"$t\"\n"
         "if [ $? -ne 0 ]; then rm -f " +
         at.part + " " + at.part +
         ".lock; exit 73; fi\n"
         "echo \"" +
         std::string{kSize} + " $(wc -c < " + at.part + ")\"\n";
}

std::string finish_script(const Place& at, const std::string& sha256) {
  return at.check + "if [ \"$(sha256sum < " + at.part + ")\" != \"" + sha256 +
         "  -\" ]; then rm -f " + at.part +
         "; exit 74; fi\n"
         "chmod 755 " +
         at.part + " && mv -f " + at.part + " " + at.file +
         " || exit 73\n"
         "rm -f " +
         at.part + ".*\n";
}

Result<std::uint64_t> size_in(const ScriptResult& heard) {
  for (const auto line : lines(heard.out)) {
    if (!line.starts_with(kSize)) continue;
    if (const auto size = number<std::uint64_t>(trimmed(line.substr(kSize.size())))) return *size;
  }
  return Error{Code::kMalformed, "the node does not say how much of it came"};
}

Error failed(const ScriptResult& heard) {
  if (heard.status == kDamaged)
    return {Code::kFailed, "what arrived has another checksum than lib/manifest says: pack anew"};
  const auto words = shortened(printable(trimmed(heard.err)), 300);
  return {Code::kFailed, words.empty()
                             ? "the node's shell ended with status " + std::to_string(heard.status)
                             : words};
}

/// Blocks for as long as a read of two megabytes does, which the page cache mostly has.
Result<std::string> piece_of(const PackedLibrary& library, std::uint64_t from) {
  std::ifstream file{library.file, std::ios::binary};
  std::string bytes(std::min<std::uint64_t>(kPiece, library.size - from), '\0');
  file.seekg(static_cast<std::streamoff>(from));
  if (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return bytes;
  return Error{Code::kInvalid, library.file.string() + " cannot be read to its end"};
}

class Bringer {
 public:
  Bringer(Session& session, bool sudo, const std::function<void(const std::string&)>& tell,
          Deadline deadline)
      : session_{session}, sudo_{sudo}, tell_{tell}, deadline_{deadline} {}

  Task<Result<void>> bring(const PackedLibrary& library, Place at) {
    CO_TRY(const auto seen, co_await asked(look_script(at, library.sha256), {}));
    if (seen.out.contains(kThere)) co_return ok();
    CO_TRY(auto size, size_in(seen));
    if (size > library.size) size = library.size;  // no prefix of it: its checksum tells
    while (size < library.size) {
      tell_(fmt::format("brings {}: {} of {} MB", library.name, size / 1'000'000,
                        library.size / 1'000'000));
      CO_TRY(auto bytes, piece_of(library, size));
      const auto script = piece_script(at, size, bytes.size());
      CO_TRY(const auto heard, co_await asked(script, std::move(bytes)));
      CO_TRY(const auto now, size_in(heard));
      if (now <= size) co_return Error{Code::kFailed, "what was sent did not arrive"};
      size = now;
    }
    CO_TRY(co_await asked(finish_script(at, library.sha256), {}));
    tell_("");
    co_return ok();
  }

 private:
  /// Errors: kFailed where the script does, too.
  Task<Result<ScriptResult>> asked(std::string script, std::string input) {
    CO_TRY(auto heard,
           co_await run_script(session_, std::move(script), std::move(input), sudo_, deadline_));
    if (heard.status != 0) co_return failed(heard);
    co_return heard;
  }

  Session& session_;
  bool sudo_;
  const std::function<void(const std::string&)>& tell_;
  Deadline deadline_;
};

/// What cupel-burn says of one: it can use it, and whether that is the one that we brought.
struct Sourced {
  bool fits = false;
  bool ours = false;
  std::string why{};
};
using ByName = std::map<std::string, Sourced, std::less<>>;  // "libcublasLt"

/// What cupel-burn says of the node.
struct FitReport {
  ByName libraries{};
  bool has_driver = true;     // an older cupel-burn says nothing of it
  std::string cuda_driver{};  // "12.4": the newest CUDA that the driver runs; empty: not given
};

FitReport reported_in(std::string_view output, const std::string& our_folder) {
  FitReport reported;
  auto& all = reported.libraries;
  for (const auto line : lines(output)) {
    const auto parsed = parse_json(line);
    if (parsed && text_at(*parsed, "kind") == "driver") {
      const auto* fits = find(*parsed, "fits");
      reported.has_driver = fits == nullptr || !fits->is_bool() || fits->get_bool();
      reported.cuda_driver = shortened(printable(text_at(*parsed, "cuda").value_or("")), 16);
      continue;
    }
    if (!parsed || text_at(*parsed, "kind") != "library") continue;
    const auto* fits = find(*parsed, "fits");
    const auto name = text_at(*parsed, "name");
    if (fits == nullptr || !fits->is_bool() || !name || all.size() >= kMostLibraries) continue;
    const auto path = text_at(*parsed, "path").value_or("");
    all[*name] = {fits->get_bool(), path.starts_with(our_folder),
                  text_at(*parsed, "why").value_or("")};
  }
  return reported;
}

/// Empty where the node has no cupel-burn, or one that knows no such question: its stages say so.
Task<Result<FitReport>> ask_what_fits(Session& session, const ProgramShelf& shelf, bool sudo,
                                      Deadline deadline) {
  const auto program = shell_quoted(shelf.on_node() + "/cupel-burn");
  const auto script = std::string{safe_path_functions()} + "if [ -x " + program +
                      " ] && [ -z \"$(cupel_unsafe " + program + ")\" ]; then " + program +
                      " libraries; fi\n";
  CO_TRY(const auto result,
         co_await run_script(session, script, {}, sudo, deadline.sooner(kToOpen)));
  co_return reported_in(result.out, shelf.on_node() + "/lib/");
}

/// Before half a gigabyte is sent for nothing: a driver of CUDA 12 does not run what is of
/// CUDA 13. Of libnccl.so.2 the name does not say it. Errors: kFailed.
Result<void> check_driver(const PackedLibrary& library, const FitReport& reported) {
  const auto dot = library.name.rfind(".so.");
  const auto of = number<unsigned>(
      std::string_view{library.name}.substr(dot == library.name.npos ? 0 : dot + 4));
  const auto runs = number<unsigned>(
      std::string_view{reported.cuda_driver}.substr(0, reported.cuda_driver.find('.')));
  if (!library.name.starts_with("libcublasLt.") || !of || !runs || *of <= *runs) return ok();
  return Error{
      Code::kFailed,
      fmt::format("{} was not brought: it is of CUDA {}, and the node's driver runs CUDA {} "
                  "at most. Install cuBLASLt {} on the node, put it into lib/ beside the "
                  "packed programs, or update the driver.",
                  library.name, *of, reported.cuda_driver, *runs)};
}

/// nullptr: cupel-burn knows none of that name.
const Sourced* find_reported(const ByName& all, const PackedLibrary& library) {
  const auto found = all.find(library.name.substr(0, library.name.find(".so")));
  return found == all.end() ? nullptr : &found->second;
}

Result<PackedLibrary> library_of(std::string_view line, const std::filesystem::path& folder) {
  const auto reported = words(line);
  const auto size = reported.size() == 3 ? number<std::uint64_t>(reported[1]) : std::nullopt;
  if (!size || !is_sum(reported[0]) || !is_plain(reported[2]))
    return Error{Code::kInvalid, "no line 'SHA256 BYTES NAME': " + printable(shortened(line, 80))};
  PackedLibrary library{std::string{reported[2]}, std::string{reported[0]}, *size,
                        folder / std::string{reported[2]}};
  std::error_code failure;
  const auto there = std::filesystem::file_size(library.file, failure);
  if (failure || there != *size)
    return Error{Code::kInvalid, library.name + " is not the file of " + std::to_string(*size) +
                                     " bytes that was packed: run scripts/pack-burn again"};
  return library;
}

}  // namespace

Result<std::vector<PackedLibrary>> packed_libraries(const ProgramShelf& shelf) {
  std::vector<PackedLibrary> packed;
  for (const auto& folder : shelf.folders()) {
    const auto file = folder / "lib" / "manifest";
    std::error_code failure;
    if (!std::filesystem::is_regular_file(file, failure)) continue;
    TRY(const auto text, read_trusted_file(file, 64 * 1024));
    std::uint64_t bytes = 0;
    for (const auto line : lines(text)) {
      auto library = library_of(line, folder / "lib");
      if (!library) return std::move(library).error().within(file.string());
      bytes += std::min(library->size, kMostBytes + 1);
      packed.push_back(*std::move(library));
      if (packed.size() > kMostLibraries || bytes > kMostBytes)
        return Error{Code::kInvalid, file.string() + ": more than 16 libraries, or than 1 GiB"};
    }
    break;
  }
  return packed;
}

Task<Result<void>> ensure_libraries(Session& session, const ProgramShelf& shelf, bool sudo,
                                    std::function<void(const std::string&)> tell,
                                    Deadline deadline) {
  CO_TRY(const auto packed, packed_libraries(shelf));
  if (packed.empty()) co_return ok();
  CO_TRY(const auto reported, co_await ask_what_fits(session, shelf, sudo, deadline));
  if (!reported.has_driver) co_return ok();  // whatever is brought, the stage ends with that reason
  for (const auto& library : packed) {
    const auto* now = find_reported(reported.libraries, library);
    if (now == nullptr || now->fits) continue;
    CO_TRY(check_driver(library, reported));
  }
  Bringer bringer{session, sudo, tell, deadline};
  std::vector<const PackedLibrary*> brought;
  for (const auto& library : packed) {
    const auto* now = find_reported(reported.libraries, library);
    if (now == nullptr || (now->fits && !now->ours)) continue;
    // One that was brought before is still looked at: it may be another one by now.
    auto came = co_await bringer.bring(library, place_of(shelf, library));
    if (!came) co_return std::move(came).error().within("bring " + library.name);
    if (!now->fits) brought.push_back(&library);
  }
  if (brought.empty()) co_return ok();
  CO_TRY(const auto then, co_await ask_what_fits(session, shelf, sudo, deadline));
  for (const auto* library : brought) {
    const auto* now = find_reported(then.libraries, *library);
    if (now == nullptr || now->fits) continue;
    co_return Error{Code::kFailed, "cupel-burn cannot use the " + library->name +
                                       " that was brought: " + shortened(printable(now->why), 300)};
  }
  co_return ok();
}

}  // namespace cupel::ssh

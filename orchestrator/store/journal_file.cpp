#include "orchestrator/store/journal_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/regular_file.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/step_secrets.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLongestLine = 256UL << 20U;  // bytes: the findings of a large machine

std::string line_of(RunId run, const EventRow& row) {
  return json::serialize(json::object{{"run", run},
                                      {"sequence", row.sequence},
                                      {"time", row.time},
                                      {"kind", row.kind},
                                      {"node", row.node},
                                      {"step", row.step},
                                      {"data", row.data},
                                      {"hash", row.hash}}) +
         "\n";
}

Error bad_line(std::int64_t number, std::string_view why) {
  return Error{Code::kMalformed, fmt::format("line {} is no event of a journal: {}", number, why)};
}

struct Line {
  RunId run = 0;
  EventRow row{};
};

Result<Line> read_line(std::string_view text, std::int64_t number) {
  if (text.size() > kLongestLine) return bad_line(number, "it is too long");
  const auto value = parse_json(text);
  if (!value) return bad_line(number, value.error().what);
  const auto whole = [&](const char* key) {
    const auto* found = find(*value, key);
    return found != nullptr && found->is_int64() ? found->get_int64() : -1;
  };
  bool sound = true;
  const auto words = [&](const char* key) {
    const auto* found = find(*value, key);
    sound = sound && found != nullptr && found->is_string();
    return sound ? std::string{found->get_string()} : std::string{};
  };
  Line line{.run = whole("run"),
            .row = {.sequence = whole("sequence"),
                    .time = whole("time"),
                    .kind = words("kind"),
                    .node = words("node"),
                    .step = words("step"),
                    .data = words("data"),
                    .hash = words("hash")}};
  if (!sound || line.run < 0 || line.row.sequence < 1)
    return bad_line(number, "a field is missing");
  return line;
}

struct Closed {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, Closed>;

Result<Stream> opened(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Error{errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                 fmt::format("cannot read {}: {}", file.string(), std::strerror(errno))};
  if (Stream stream{::fdopen(descriptor, "rb")}) {
    TRY(check_regular(descriptor, file));
    return stream;
  }
  ::close(descriptor);
  return Error{Code::kInvalid, "cannot read " + file.string() + ": no memory"};
}

/// Without its line feed. Nothing behind the last; a line that is too long comes cut.
bool next_line(std::FILE& in, std::string& line) {
  line.clear();
  for (int c = ::getc_unlocked(&in); c != '\n'; c = ::getc_unlocked(&in)) {
    if (c == EOF) return !line.empty();
    line += static_cast<char>(c);
    if (line.size() > kLongestLine) return true;
  }
  return true;
}

Error changed(std::int64_t event, std::string_view why) {
  return Error{Code::kUntrusted, fmt::format("event {} of the journal {}", event, why)};
}

}  // namespace

Result<void> Store::each_event(RunId run, const std::function<void(const EventRow&)>& visit) const {
  return guarded("cannot read the journal", [&]() -> Result<void> {
    if (const auto damage = damage_of(database_->sql, run))
      return Error{Code::kStorage, fmt::format("run {}: event {}: {}; cupel store verify", run,
                                               damage->sequence, damage->what)};
    EventRows rows{database_->sql, run};
    while (const auto* row = rows.next()) visit(*row);
    return ok();
  });
}

Result<JournalFile> write_journal(const Store& store, RunId run,
                                  const std::filesystem::path& file) {
  TRY(const auto known, store.run(run));
  JournalFile end{.run = known.id};
  Sha256 digest;
  TRY(auto out, NewFile::beside(file, kReadableByAll));
  Result<void> wrote = ok();
  TRY(store.each_event(run, [&](const EventRow& row) {
    auto shown = row;
    shown.data = cut_tickets(std::move(shown.data));
    if (shown.data != row.data) ++end.cut;
    const auto line = line_of(run, shown);
    digest.add(line);
    if (wrote) wrote = out.write(line);
    ++end.events;
    end.head = row.hash;
  }));
  TRY(wrote);
  TRY(out.take_place());
  end.sha256 = digest.hex();
  return end;
}

Result<JournalFile> check_journal(const std::filesystem::path& file) {
  TRY(const auto in, opened(file));
  JournalFile end;
  Sha256 digest;
  std::string text;
  while (next_line(*in, text)) {
    digest.add(text);
    digest.add("\n");  // a last line that is cut has another digest, and is no event
    TRY(const auto line, read_line(text, end.events + 1));
    if (end.events == 0) end.run = line.run;
    if (line.run != end.run) return changed(end.events + 1, "is another run's");
    if (line.row.sequence != end.events + 1) return changed(end.events + 1, "is missing");
    const bool whole = chained(end.head, end.run, line.row) == line.row.hash;
    if (!whole && !has_cut_ticket(line.row.data))
      return changed(end.events + 1, "is not what was written");
    if (!whole) ++end.cut;
    end.head = line.row.hash;
    ++end.events;
  }
  if (std::ferror(in.get()) != 0)
    return Error{Code::kInvalid, "cannot read " + file.string() + " to its end"};
  end.sha256 = digest.hex();
  return end;
}

}  // namespace cupel::store

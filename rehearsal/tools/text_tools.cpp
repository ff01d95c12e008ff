// Tools that read text and print text.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/grep.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// Lines with their ends, so that a last line without one stays so.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    found.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return found;
}

Task<int> cat(ProcessPtr process, Arguments arguments) {
  auto options = parse_options(arguments, "nuv");
  auto operands = options.operands;
  if (operands.empty()) operands.push_back("-");
  int status = 0;
  for (const auto& operand : operands) {
    OpenFilePtr file;
    if (operand == "-") {
      file = process->files.contains(0) ? process->files[0] : nullptr;
    } else {
      const auto node = process->disk().find(process->path(operand));
      if (node && !node->is_folder()) file = open_inode(process->disk(), node, false);
      if (!file)
        status = co_await print_error(
            process, "cat",
            operand + ": " + (node ? "Is a directory" : "No such file or directory"));
    }
    // Piece by piece: what comes through a pipe must not wait for its end.
    while (file && process->fatal() == 0) {
      std::string piece;
      const int error = co_await file->read(*process, piece, 64 * 1024);
      if (error != 0 || piece.empty()) break;
      const int failure = co_await process->write(1, piece);
      if (failure == 0) continue;
      co_return co_await print_error(process, "cat",
                                     "write error: " + std::string{error_text(failure)});
    }
  }
  co_return status;
}

Task<int> head(ProcessPtr process, Arguments arguments) {
  // -5 is an old way to say -n 5.
  if (arguments.size() > 1 && arguments[1].size() > 1 && arguments[1][0] == '-' &&
      std::isdigit(static_cast<unsigned char>(arguments[1][1])))
    arguments[1] = "-n" + arguments[1].substr(1);
  const auto options = parse_options(arguments, "n:c:q", {{"lines", 'n'}, {"bytes", 'c'}});
  const bool bytes = options.has('c');
  auto limit =
      static_cast<std::int64_t>(parse_size(options.value(bytes ? 'c' : 'n', "10")).value_or(10));
  const auto value = options.value(bytes ? 'c' : 'n', "10");
  const bool from_end = value.starts_with('-');
  if (from_end) limit = number<std::int64_t>(value.substr(1)).value_or(0);
  if (options.operands.empty() && !from_end) {
    // Reads no more than it must: the source may never end.
    while (limit > 0 && process->fatal() == 0) {
      std::string piece;
      const auto want =
          bytes ? static_cast<std::size_t>(std::min<std::int64_t>(limit, 65536)) : 4096u;
      const int error = co_await process->read(0, piece, want);
      if (error != 0 || piece.empty()) break;
      std::size_t keep = piece.size();
      if (bytes) {
        limit -= static_cast<std::int64_t>(keep);
      } else {
        for (std::size_t i = 0; i < piece.size(); ++i)
          if (piece[i] == '\n' && --limit == 0) keep = i + 1, i = piece.size();
      }
      piece.resize(keep);
      const int failure = co_await process->write(1, piece);
      if (failure != 0) co_return 1;
    }
    co_return 0;
  }
  // Devices never end either.
  for (const auto& operand : options.operands) {
    const auto node = process->disk().find(process->path(operand));
    if (!node || node->kind != Inode::Kind::device || !bytes) continue;
    std::string piece;
    auto file = open_inode(process->disk(), node, false);
    co_await file->read(*process, piece,
                        static_cast<std::size_t>(std::min<std::int64_t>(limit, 64 << 20)));
    co_await process->say(piece);
    co_return 0;
  }
  const auto sources = co_await read_sources(process, "head", options.operands);
  for (const auto& source : sources.all) {
    std::string_view text{source.bytes};
    if (bytes) {
      const auto size = static_cast<std::int64_t>(text.size());
      const auto keep = from_end ? std::max<std::int64_t>(size - limit, 0) : std::min(limit, size);
      co_await process->say(text.substr(0, static_cast<std::size_t>(keep)));
      continue;
    }
    std::string kept;
    auto all = whole_lines(text);
    const auto count = static_cast<std::int64_t>(all.size());
    const auto keep = from_end ? std::max<std::int64_t>(count - limit, 0) : std::min(limit, count);
    for (std::int64_t i = 0; i < keep; ++i) kept += all[static_cast<std::size_t>(i)];
    if (sources.all.size() > 1 && !options.has('q')) kept = "==> " + source.name + " <==\n" + kept;
    co_await process->say(kept);
  }
  co_return sources.good ? 0 : 1;
}

std::string tail_of(std::string_view text, bool bytes, const std::string& value) {
  const bool from_start = value.starts_with('+');
  const auto bare = value.starts_with('+') || value.starts_with('-') ? value.substr(1) : value;
  const auto count = static_cast<std::size_t>(parse_size(bare).value_or(10));
  if (bytes) {
    if (from_start)
      return std::string{text.substr(std::min(text.size(), std::max<std::size_t>(count, 1) - 1))};
    return std::string{text.substr(text.size() - std::min(text.size(), count))};
  }
  const auto all = whole_lines(text);
  const auto skip = from_start ? std::min(all.size(), std::max<std::size_t>(count, 1) - 1)
                               : all.size() - std::min(all.size(), count);
  std::string kept;
  for (auto i = skip; i < all.size(); ++i) kept += all[i];
  return kept;
}

Task<int> tail(ProcessPtr process, Arguments arguments) {
  if (arguments.size() > 1 && arguments[1].size() > 1 && arguments[1][0] == '-' &&
      std::isdigit(static_cast<unsigned char>(arguments[1][1])))
    arguments[1] = "-n" + arguments[1].substr(1);
  const auto options = parse_options(arguments, "n:c:qF", {{"lines", 'n'}, {"bytes", 'c'}});
  const auto sources = co_await read_sources(process, "tail", options.operands);
  for (const auto& source : sources.all) {
    const bool bytes = options.has('c');
    auto kept = tail_of(source.bytes, bytes, options.value(bytes ? 'c' : 'n', "10"));
    if (sources.all.size() > 1 && !options.has('q')) kept = "==> " + source.name + " <==\n" + kept;
    co_await process->say(kept);
  }
  co_return sources.good ? 0 : 1;
}

Task<int> count(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "lwcm", {{"lines", 'l'}, {"bytes", 'c'}});
  const auto sources = co_await read_sources(process, "wc", options.operands);
  const bool all = options.set.empty();
  std::size_t total_lines = 0, total_words = 0, total_bytes = 0;
  const auto print = [&](std::size_t l, std::size_t w, std::size_t c, const std::string& name) {
    std::string line;
    const bool one = options.set.size() == 1 && sources.all.size() == 1;
    const auto add = [&](std::size_t value) {
      line += one ? std::to_string(value) : fmt::format("{}{:>7}", line.empty() ? "" : " ", value);
    };
    if (all || options.has('l')) add(l);
    if (all || options.has('w')) add(w);
    if (all || options.has('c') || options.has('m')) add(c);
    return line + (name == "-" ? "" : " " + name) + "\n";
  };
  std::string text;
  for (const auto& source : sources.all) {
    const auto l = static_cast<std::size_t>(std::ranges::count(source.bytes, '\n'));
    const auto w = words(source.bytes).size();
    total_lines += l, total_words += w, total_bytes += source.bytes.size();
    text += print(l, w, source.bytes.size(), options.operands.empty() ? "-" : source.name);
  }
  if (sources.all.size() > 1) text += print(total_lines, total_words, total_bytes, "total");
  co_await process->say(text);
  co_return sources.good ? 0 : 1;
}

/// The number that a line starts with, as sort -n sees it.
double leading_number(std::string_view line) {
  line = trimmed(line);
  double value = 0;
  std::from_chars(line.data(), line.data() + line.size(), value);
  return value;
}

std::string_view key_of(std::string_view line, std::size_t field, char separator) {
  if (field == 0) return line;
  const auto parts = separator == '\0' ? words(line) : split(line, separator);
  return field <= parts.size() ? parts[field - 1] : std::string_view{};
}

Task<int> sort(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "nruk:t:Vfbo:s");
  const auto sources = co_await read_sources(process, "sort", options.operands);
  std::string all;
  for (const auto& source : sources.all)
    all += source.bytes + (source.bytes.ends_with('\n') || source.bytes.empty() ? "" : "\n");
  auto kept = lines(all);
  const auto key = options.value('k');
  std::size_t field = 0;
  std::from_chars(key.data(), key.data() + key.size(), field);
  const char separator = options.has('t') ? options.value('t')[0] : '\0';
  const bool numeric = options.has('n') || key.contains('n'),
             reverse = options.has('r') || key.contains('r');
  const auto less = [&](std::string_view a, std::string_view b) {
    const auto x = key_of(a, field, separator), y = key_of(b, field, separator);
    if (numeric && leading_number(x) != leading_number(y))
      return leading_number(x) < leading_number(y);
    if (!numeric && x != y) return x < y;
    return a < b;
  };
  std::ranges::stable_sort(kept, [&](auto a, auto b) { return reverse ? less(b, a) : less(a, b); });
  if (options.has('u')) {
    const auto same = std::ranges::unique(kept, [&](auto a, auto b) {
      return numeric ? leading_number(key_of(a, field, separator)) ==
                           leading_number(key_of(b, field, separator))
                     : key_of(a, field, separator) == key_of(b, field, separator);
    });
    kept.erase(same.begin(), same.end());
  }
  std::string text;
  for (const auto line : kept) text += std::string{line} + "\n";
  co_await process->say(text);
  co_return sources.good ? 0 : 2;
}

/// "1,3-5,7-": which of the positions are meant.
bool in_list(const std::string& list, std::size_t position) {
  for (const auto part : split(list, ',')) {
    const auto dash = part.find('-');
    const auto low = number<std::size_t>(part.substr(0, dash)).value_or(1);
    const auto high =
        dash == part.npos ? low : number<std::size_t>(part.substr(dash + 1)).value_or(SIZE_MAX);
    if (position >= low && position <= high) return true;
  }
  return false;
}

Task<int> cut(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "d:f:c:b:s", {{"delimiter", 'd'}, {"fields", 'f'}});
  const auto sources = co_await read_sources(process, "cut", options.operands);
  const char separator =
      options.has('d') && !options.value('d').empty() ? options.value('d')[0] : '\t';
  const auto list =
      options.has('f') ? options.value('f') : options.value(options.has('c') ? 'c' : 'b');
  std::string text;
  for (const auto& source : sources.all)
    for (const auto line : lines(source.bytes)) {
      std::string kept;
      if (!options.has('f')) {
        for (std::size_t i = 0; i < line.size(); ++i)
          if (in_list(list, i + 1)) kept += line[i];
      } else if (!line.contains(separator)) {
        if (options.has('s')) continue;
        kept = line;
      } else {
        bool first = true;
        const auto parts = split(line, separator);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if (!in_list(list, i + 1)) continue;
          if (!std::exchange(first, false)) kept += separator;
          kept += parts[i];
        }
      }
      text += kept + "\n";
    }
  co_await process->say(text);
  co_return sources.good ? 0 : 1;
}

std::string expanded_set(std::string_view set) {
  std::string all;
  for (const auto& [name, from, to] :
       std::initializer_list<std::tuple<std::string_view, char, char>>{
           {"[:lower:]", 'a', 'z'}, {"[:upper:]", 'A', 'Z'}, {"[:digit:]", '0', '9'}})
    if (set == name) {
      for (char c = from; c <= to; ++c) all += c;
      return all;
    }
  if (set == "[:space:]") return " \t\n\r\v\f";
  for (std::size_t i = 0; i < set.size(); ++i) {
    char c = set[i];
    if (c == '\\' && i + 1 < set.size()) {
      const char next = set[++i];
      c = next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next == '0' ? '\0' : next;
      if (next == '0')
        while (i + 1 < set.size() && set[i + 1] == '0') ++i;
    }
    if (i + 2 < set.size() && set[i + 1] == '-') {
      for (int each = static_cast<unsigned char>(c); each <= static_cast<unsigned char>(set[i + 2]);
           ++each)
        all += static_cast<char>(each);
      i += 2;
      continue;
    }
    all += c;
  }
  return all;
}

Task<int> translate(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "dscC");
  if (options.operands.empty()) co_return co_await print_error(process, "tr", "missing operand");
  auto from = expanded_set(options.operands[0]);
  const auto to = options.operands.size() > 1 ? expanded_set(options.operands[1]) : std::string{};
  if (options.has('c') || options.has('C')) {
    std::string other;
    for (int c = 0; c < 256; ++c)
      if (!from.contains(static_cast<char>(c))) other += static_cast<char>(c);
    from = other;
  }
  std::string input, text;
  co_await process->read_all(0, input);
  const auto& squeezed = to.empty() ? from : to;
  for (const char c : input) {
    const auto at = from.find(c);
    if (at != from.npos && options.has('d')) continue;
    const char changed = at == from.npos || to.empty() ? c : to[std::min(at, to.size() - 1)];
    const bool again =
        options.has('s') && !text.empty() && text.back() == changed && squeezed.contains(changed);
    if (!again) text += changed;
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> digest(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(
      arguments, "cbw", {{"check", 'c'}, {"status", 's'}, {"quiet", 'q'}, {"strict", 'S'}});
  const auto sources = co_await read_sources(process, "sha256sum", options.operands);
  std::string text;
  bool good = sources.good;
  if (!options.has('c')) {
    for (const auto& source : sources.all)
      text += sha256_hex(source.bytes) + "  " + source.name + "\n";
    co_await process->say(text);
    co_return good ? 0 : 1;
  }
  for (const auto& source : sources.all)
    for (const auto line : lines(source.bytes)) {
      if (line.size() < 67) continue;
      const std::string name{line.substr(66)};
      const auto node = process->disk().find(process->path(name));
      const bool same = node && sha256_hex(node->content()) == lower_case(line.substr(0, 64));
      good = good && same;
      if (!options.has('q') || !same)
        text += name + (same ? ": OK\n" : node ? ": FAILED\n" : ": FAILED open or read\n");
    }
  if (!options.has('s')) co_await process->say(text);
  co_return good ? 0 : 1;
}

constexpr std::array<Tool, 10> kTools{{{"cat", cat},
                                       {"head", head},
                                       {"tail", tail},
                                       {"wc", count},
                                       {"sort", sort},
                                       {"cut", cut},
                                       {"tr", translate},
                                       {"sha256sum", digest},
                                       {"grep", grep},
                                       {"egrep", grep}}};

}  // namespace

std::span<const Tool> text_tools() { return kTools; }

}  // namespace cupel::rehearsal

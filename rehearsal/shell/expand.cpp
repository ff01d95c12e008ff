// Words to fields: POSIX XCU 2.6. Parameters, command substitution, arithmetic, field splitting,
// pathnames, quote removal, in this order.
#include <utility>

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/shell.h"

namespace cupel::rehearsal {

struct Expander {
  Shell& shell;
  bool splitting;
  std::vector<Field> done{};
  Field now{};
  bool open = false;         // `now` is a field, be it empty
  bool after_blank = false;  // a blank of IFS has just ended a field
  std::size_t size = 0;

  void add(std::string_view text, bool quoted) {
    now.add(text, quoted);
    size += text.size();
    open = open || quoted || !text.empty();
    if (!text.empty()) after_blank = false;
  }
  void close() {
    if (open) done.push_back(std::exchange(now, {}));
    open = false;
  }
  void add_split(std::string_view text);
  void add_arguments(bool quoted, bool joined);
  Task<void> word(const Word& word);
  Task<void> piece(const Piece& piece);
  Task<void> parameter(const Piece& piece);
  Task<void> absent(const Piece& piece, char operation);
};

void Expander::add_split(std::string_view text) {
  const auto separators = shell.value("IFS").value_or(" \t\n");
  for (const char c : text) {
    if (!std::string_view{separators}.contains(c)) {
      add({&c, 1}, false);
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (blank) {
      if (open) after_blank = true;
      close();
    } else {
      if (!after_blank) open = true;
      close();
      after_blank = false;
    }
  }
}

void Expander::add_arguments(bool quoted, bool joined) {
  const auto& arguments = shell.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0 && joined) {
      const auto separators = shell.value("IFS").value_or(" ");
      add(separators.substr(0, 1), quoted);
    } else if (i > 0) {
      splitting ? close() : add(" ", quoted);
    }
    if (quoted)
      add(arguments[i], true);
    else if (splitting)
      add_split(arguments[i]);
    else
      add(arguments[i], false);
  }
}

Task<void> Expander::word(const Word& word) {
  bool first = true;
  for (const auto& each : word.pieces) {
    const bool arguments = each.kind == Piece::Kind::parameter && each.text == "@";
    // A quoted piece opens a field even if it is empty; only "$@" without arguments does not.
    if (each.quoted && !arguments) open = true;
    const bool home = first && each.kind == Piece::Kind::text && !each.quoted &&
                      (each.text == "~" || each.text.starts_with("~/"));
    if (home) {
      add(shell.value("HOME").value_or("/root"), true);
      add(std::string_view{each.text}.substr(1), false);
    } else {
      co_await piece(each);
    }
    first = false;
    if (shell.stopped()) co_return;
  }
  if (word.quotes && word.pieces.empty()) open = true;
}

Task<void> Expander::piece(const Piece& piece) {
  if (size > Shell::kLongestValue) {
    co_await shell.abort(2, "expansion is too large");
    co_return;
  }
  switch (piece.kind) {
    case Piece::Kind::text:
      add(piece.text, piece.quoted);
      co_return;
    case Piece::Kind::parameter:
      co_await parameter(piece);
      co_return;
    case Piece::Kind::command: {
      const auto output = co_await shell.substitute(piece.script);
      if (piece.quoted || !splitting)
        add(output, piece.quoted);
      else
        add_split(output);
      co_return;
    }
    case Piece::Kind::arithmetic: {
      const auto expression = co_await shell.text(*piece.argument);
      const auto value = arithmetic(expression, shell);
      if (!value) {
        co_await shell.abort(2, value.error().what);
        co_return;
      }
      add(std::to_string(value.value()), piece.quoted);
    }
  }
}

namespace {

std::string without(const std::string& value, const std::string& pattern, std::string_view how) {
  const bool front = how.front() == '#', longest = how.size() == 2;
  const auto size = value.size();
  for (std::size_t i = 0; i <= size; ++i) {
    const auto cut = longest ? size - i : i;
    const auto piece = front ? value.substr(0, cut) : value.substr(size - cut);
    if (!matches(pattern, piece)) continue;
    return front ? value.substr(cut) : value.substr(0, size - cut);
  }
  return value;
}

}  // namespace

Task<void> Expander::parameter(const Piece& piece) {
  const bool all = piece.text == "@" || piece.text == "*";
  if (all && piece.operation.empty()) {
    add_arguments(piece.quoted, piece.text == "*" && piece.quoted);
    co_return;
  }
  auto value = shell.value(piece.text);
  auto operation = piece.operation;
  if (operation == "length") {
    add(std::to_string(value.value_or("").size()), piece.quoted);
    co_return;
  }
  const bool colon = operation.starts_with(':');
  if (colon) operation.erase(0, 1);
  const char kind = operation.empty() ? '\0' : operation.front();
  const bool missing = !value || (colon && value->empty());
  if (kind == '+') {
    if (!missing) co_await word(*piece.argument);
    co_return;
  }
  if (missing && (kind == '-' || kind == '=' || kind == '?')) {
    co_await absent(piece, kind);
    co_return;
  }
  if (!value && shell.nounset) {
    co_await shell.abort(2, piece.text + ": parameter not set");
    co_return;
  }
  if (kind == '#' || kind == '%') {
    const auto pattern = co_await shell.pattern(*piece.argument);
    value = without(value.value_or(""), pattern, operation);
  }
  if (piece.quoted || !splitting)
    add(value.value_or(""), piece.quoted);
  else
    add_split(value.value_or(""));
}

Task<void> Expander::absent(const Piece& piece, char operation) {
  if (operation == '-') {
    co_await word(*piece.argument);
    co_return;
  }
  auto text = co_await shell.text(*piece.argument);
  if (operation == '?') {
    if (text.empty()) text = "parameter not set";
    co_await shell.abort(2, piece.text + ": " + text);
    co_return;
  }
  shell.assign(piece.text, text);
  if (piece.quoted || !splitting)
    add(text, piece.quoted);
  else
    add_split(text);
}

Task<std::vector<std::string>> Shell::fields(const std::vector<Word>& words) {
  std::vector<std::string> all;
  constexpr std::size_t kMost = 65536;
  for (const auto& word : words) {
    Expander expander{.shell = *this, .splitting = true};
    co_await expander.word(word);
    expander.close();
    if (stopped()) co_return std::vector<std::string>{};
    for (const auto& field : expander.done)
      for (auto& one : globbed(field))
        if (all.size() < kMost) all.push_back(std::move(one));
  }
  co_return all;
}

Task<std::string> Shell::text(const Word& word) {
  Expander expander{.shell = *this, .splitting = false};
  co_await expander.word(word);
  co_return std::move(expander.now.text);
}

Task<std::string> Shell::pattern(const Word& word) {
  Expander expander{.shell = *this, .splitting = false};
  co_await expander.word(word);
  std::string escaped;
  const auto& field = expander.now;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    if (field.mask[i] == 'q' && std::string_view{"*?[]\\-!^"}.contains(field.text[i]))
      escaped += '\\';
    escaped += field.text[i];
  }
  co_return escaped;
}

Task<std::string> Shell::substitute(CommandPtr script) {
  auto child = process->host.fork(process.get(), "sh");
  if (!child || call_depth > kDeepestCall) {
    co_await abort(2, "Cannot fork");
    co_return std::string{};
  }
  auto ends = make_pipe();
  child->files[1] = std::move(ends.writer);
  const auto shell = forked(child);
  const auto body = [](std::shared_ptr<Shell> inner, CommandPtr tree) -> Task<int> {
    co_await inner->evaluate_last(tree);
    co_await inner->run_traps();
    co_return inner->status;
  };
  process->host.start(child, body(shell, std::move(script)));
  std::string output;
  // Cut where it is too long; a signal that ends this shell ends the reading.
  co_await process->read_all(*ends.reader, output, kLongestValue);
  ends.reader.reset();
  status = co_await wait_for(child, false);
  substituted_ = true;
  std::erase(output, '\0');
  while (output.ends_with('\n')) output.pop_back();
  co_return output;
}

}  // namespace cupel::rehearsal

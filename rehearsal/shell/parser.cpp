#include "rehearsal/shell/parser.h"

#include <cctype>
#include <map>

namespace cupel::rehearsal {
namespace {

/// The word as it was meant, if nothing in it needs expanding or was quoted.
std::optional<std::string> plain_word(const Token& token) {
  if (token.kind != Token::Kind::word || token.word.quotes) return std::nullopt;
  if (token.word.pieces.size() != 1) return std::nullopt;
  const auto& piece = token.word.pieces.front();
  if (piece.kind != Piece::Kind::text || piece.quoted) return std::nullopt;
  return piece.text;
}

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

/// NAME=value, where NAME= was not quoted.
std::optional<Assignment> assignment(const Token& token) {
  if (token.kind != Token::Kind::word || token.word.pieces.empty()) return std::nullopt;
  const auto& first = token.word.pieces.front();
  if (first.kind != Piece::Kind::text || first.quoted) return std::nullopt;
  const auto equals = first.text.find('=');
  if (equals == std::string::npos || !is_name(first.text.substr(0, equals))) return std::nullopt;
  Assignment made{.name = first.text.substr(0, equals), .value = token.word};
  made.value.pieces.front().text.erase(0, equals + 1);
  return made;
}

/// A delimiter's text, with its quotes taken away.
std::string flat(const Word& word) {
  std::string text;
  for (const auto& piece : word.pieces) text += piece.text;
  return text;
}

CommandPtr made(Command command) { return std::make_shared<const Command>(std::move(command)); }

}  // namespace

Result<void> Parser::peek() {
  if (ahead_) return ok();
  TRY(token_, lexer_.next());
  ahead_ = true;
  return ok();
}

bool Parser::is_operation(std::string_view text) const {
  return token_.kind == Token::Kind::operation && token_.text == text;
}

bool Parser::is_reserved(std::string_view word) const {
  const auto text = plain_word(token_);
  return text && *text == word;
}

bool Parser::ends_list(Ends ends) const {
  if (token_.kind == Token::Kind::end) return true;
  for (const auto end : ends)
    if (end == ")" || end == ";;" ? is_operation(end) : is_reserved(end)) return true;
  return false;
}

Error Parser::unexpected() const {
  std::string what;
  switch (token_.kind) {
    case Token::Kind::end:
      what = "end of file";
      break;
    case Token::Kind::newline:
      what = "newline";
      break;
    default:
      what = "\"" + token_.text + "\"";
      break;
  }
  return {Code::kInvalid, "Syntax error: " + what + " unexpected"};
}

Result<void> Parser::expect(std::string_view word) {
  TRY(peek());
  const bool there = word == ")" || word == "(" ? is_operation(word) : is_reserved(word);
  if (!there) return unexpected();
  take();
  return ok();
}

Result<void> Parser::skip_newlines() {
  for (;;) {
    TRY(peek());
    if (token_.kind != Token::Kind::newline) return ok();
    take();
  }
}

Result<CommandPtr> Parser::script() {
  TRY(auto tree, list({}));
  if (token_.kind != Token::Kind::end) return unexpected();
  return tree;
}

Result<CommandPtr> Parser::until_parenthesis() {
  TRY(auto tree, list({")"}));
  TRY(expect(")"));
  return tree;
}

Result<CommandPtr> Parser::list(Ends ends) {
  if (++depth_ > Lexer::kDeepest) return Error{Code::kInvalid, "Syntax error: nested too deeply"};
  Command all{.kind = Command::Kind::sequence};
  for (;;) {
    TRY(skip_newlines());
    if (ends_list(ends)) break;
    TRY(auto next, and_or());
    TRY(peek());
    const bool background = is_operation("&");
    if (background)
      all.children.push_back(made({.kind = Command::Kind::background, .children = {next}}));
    else
      all.children.push_back(std::move(next));
    if (background || is_operation(";")) {
      take();
      continue;
    }
    if (token_.kind == Token::Kind::newline) continue;
    if (ends_list(ends)) break;
    return unexpected();
  }
  --depth_;
  if (all.children.size() == 1) return all.children.front();
  return made(std::move(all));
}

Result<CommandPtr> Parser::body(std::string_view end) {
  TRY(auto tree, list({end}));
  TRY(expect(end));
  return tree;
}

Result<CommandPtr> Parser::and_or() {
  TRY(auto left, pipeline());
  for (;;) {
    TRY(peek());
    const bool both = is_operation("&&");
    if (!both && !is_operation("||")) return left;
    take();
    TRY(skip_newlines());
    TRY(auto right, pipeline());
    left = made({.kind = both ? Command::Kind::both : Command::Kind::either,
                 .children = {left, std::move(right)}});
  }
}

Result<CommandPtr> Parser::pipeline() {
  Command pipe{.kind = Command::Kind::pipeline};
  TRY(peek());
  while (is_reserved("!")) {
    pipe.negated = !pipe.negated;
    take();
    TRY(peek());
  }
  for (;;) {
    TRY(auto next, command());
    pipe.children.push_back(std::move(next));
    TRY(peek());
    if (!is_operation("|")) break;
    take();
    TRY(skip_newlines());
  }
  if (pipe.children.size() == 1 && !pipe.negated) return pipe.children.front();
  return made(std::move(pipe));
}

Result<CommandPtr> Parser::command() {
  TRY(peek());
  const bool compound_start = is_operation("(") || is_reserved("{") || is_reserved("if") ||
                              is_reserved("while") || is_reserved("until") || is_reserved("for") ||
                              is_reserved("case");
  return compound_start ? compound() : simple();
}

Result<CommandPtr> Parser::compound() {
  if (is_operation("(")) {
    take();
    TRY(auto inner, until_parenthesis());
    return with_redirects({.kind = Command::Kind::subshell, .children = {std::move(inner)}});
  }
  const auto word = *plain_word(token_);
  take();
  if (word == "{") {
    TRY(auto inner, body("}"));
    return with_redirects({.kind = Command::Kind::group, .children = {std::move(inner)}});
  }
  if (word == "if") return condition();
  if (word == "for") return for_each();
  if (word == "case") return match();
  return loop(word == "until");
}

Result<CommandPtr> Parser::condition() {
  Command chosen{.kind = Command::Kind::condition};
  for (;;) {
    TRY(auto test, body("then"));
    TRY(auto then, list({"elif", "else", "fi"}));
    chosen.children.push_back(std::move(test));
    chosen.children.push_back(std::move(then));
    TRY(peek());
    if (!is_reserved("elif")) break;
    take();
  }
  if (is_reserved("else")) {
    take();
    TRY(auto otherwise, list({"fi"}));
    chosen.children.push_back(std::move(otherwise));
  }
  TRY(expect("fi"));
  return with_redirects(std::move(chosen));
}

Result<CommandPtr> Parser::loop(bool until) {
  TRY(auto test, body("do"));
  TRY(auto inner, body("done"));
  return with_redirects({.kind = Command::Kind::loop,
                         .children = {std::move(test), std::move(inner)},
                         .negated = until});
}

Result<CommandPtr> Parser::for_each() {
  Command each{.kind = Command::Kind::for_each};
  TRY(peek());
  const auto name = plain_word(token_);
  if (!name || !is_name(*name)) return Error{Code::kInvalid, "Syntax error: Bad for loop variable"};
  each.name = *name;
  take();
  TRY(skip_newlines());
  if (is_reserved("in")) {
    take();
    for (;;) {
      TRY(peek());
      if (token_.kind != Token::Kind::word) break;
      each.words.push_back(token_.word);
      take();
    }
  } else {
    each.over_arguments = true;
  }
  if (is_operation(";")) take();
  TRY(skip_newlines());
  TRY(expect("do"));
  TRY(auto inner, body("done"));
  each.children.push_back(std::move(inner));
  return with_redirects(std::move(each));
}

Result<CommandPtr> Parser::match() {
  Command chosen{.kind = Command::Kind::match};
  TRY(peek());
  if (token_.kind != Token::Kind::word) return unexpected();
  chosen.words.push_back(token_.word);
  take();
  TRY(skip_newlines());
  TRY(expect("in"));
  for (;;) {
    TRY(skip_newlines());
    if (is_reserved("esac")) break;
    if (is_operation("(")) take();
    CaseItem item;
    for (;;) {
      TRY(peek());
      if (token_.kind != Token::Kind::word) return unexpected();
      item.patterns.push_back(token_.word);
      take();
      TRY(peek());
      if (!is_operation("|")) break;
      take();
    }
    TRY(expect(")"));
    TRY(item.body, list({";;", "esac"}));
    chosen.items.push_back(std::move(item));
    TRY(peek());
    if (is_operation(";;")) take();
  }
  TRY(expect("esac"));
  return with_redirects(std::move(chosen));
}

Result<CommandPtr> Parser::simple() {
  Command simple{.kind = Command::Kind::simple, .line = token_.line};
  for (;;) {
    TRY(peek());
    TRY(const bool redirected, redirect(simple.redirects));
    if (redirected) continue;
    if (token_.kind != Token::Kind::word) break;
    auto assigned = simple.words.empty() ? assignment(token_) : std::nullopt;
    const auto name = plain_word(token_);
    if (assigned)
      simple.assignments.push_back(std::move(*assigned));
    else
      simple.words.push_back(token_.word);
    take();
    TRY(peek());
    const bool function = is_operation("(") && simple.words.size() == 1 && name && is_name(*name);
    if (!function) continue;
    take();
    TRY(expect(")"));
    TRY(skip_newlines());
    TRY(auto inner, command());
    return made({.kind = Command::Kind::function, .children = {std::move(inner)}, .name = *name});
  }
  if (simple.words.empty() && simple.assignments.empty() && simple.redirects.empty())
    return unexpected();
  // "then", "done" and the like where a command should begin.
  constexpr std::array<std::string_view, 8> kOutOfPlace{"then", "else", "elif", "fi",
                                                        "do",   "done", "esac", "}"};
  if (simple.words.size() >= 1 && simple.assignments.empty()) {
    const auto text = plain_word({.kind = Token::Kind::word, .word = simple.words.front()});
    if (text && (std::ranges::find(kOutOfPlace, std::string_view{*text}) != kOutOfPlace.end()))
      return Error{Code::kInvalid, "Syntax error: \"" + *text + "\" unexpected"};
  }
  return made(std::move(simple));
}

Result<CommandPtr> Parser::with_redirects(Command command) {
  for (;;) {
    TRY(peek());
    TRY(const bool more, redirect(command.redirects));
    if (!more) return made(std::move(command));
  }
}

Result<bool> Parser::redirect(std::vector<Redirect>& redirects) {
  int descriptor = -1;
  if (token_.kind == Token::Kind::number) {
    descriptor = token_.text.front() - '0';
    take();
    TRY(peek());
  }
  if (token_.kind != Token::Kind::operation) return false;
  const auto operation = token_.text;
  Redirect made_redirect;
  using Kind = Redirect::Kind;
  if (operation == "<")
    made_redirect.kind = Kind::read;
  else if (operation == ">" || operation == ">|")
    made_redirect.kind = Kind::write;
  else if (operation == ">>")
    made_redirect.kind = Kind::append;
  else if (operation == "<>")
    made_redirect.kind = Kind::read_write;
  else if (operation == ">&" || operation == "<&")
    made_redirect.kind = Kind::duplicate;
  else if (operation == "<<" || operation == "<<-")
    made_redirect.kind = Kind::here;
  else
    return false;
  const bool output = operation.front() == '>';
  made_redirect.descriptor = descriptor >= 0 ? descriptor : (output ? 1 : 0);
  take();
  TRY(peek());
  if (token_.kind != Token::Kind::word) return unexpected();
  made_redirect.target = std::make_shared<Word>(token_.word);
  if (made_redirect.kind == Kind::here)
    lexer_.expect_here_document(made_redirect.target, flat(token_.word), token_.word.quotes,
                                operation == "<<-");
  redirects.push_back(std::move(made_redirect));
  take();
  return true;
}

Result<CommandPtr> parse_script(std::string_view text, int depth) {
  // All nodes run the same few scripts over and over. What is short is read as quickly as it is
  // found, and command lines, which name a folder or an offset, would soon leave no room for the
  // others.
  constexpr std::size_t kShort = 1024, kKept = 32;
  if (depth > 0 || text.size() < kShort) return Parser{text, 0, depth}.script();
  thread_local std::map<std::string, CommandPtr, std::less<>> known;
  if (const auto tree = known.find(text); tree != known.end()) return tree->second;
  TRY(auto tree, Parser{text, 0, depth}.script());
  if (known.size() == kKept) known.clear();
  known.emplace(text, tree);
  return tree;
}

}  // namespace cupel::rehearsal

#include "rehearsal/shell/lexer.h"

#include <cctype>

#include "rehearsal/shell/parser.h"

namespace cupel::rehearsal {
namespace {

Error syntax(std::string what) { return {Code::kInvalid, "Syntax error: " + std::move(what)}; }

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool special(char c) { return c != '\0' && std::string_view{"@*#?-$!"}.contains(c); }
bool ends_word(char c) { return std::string_view{" \t\n;&|<>()"}.contains(c); }

void add_text(Word& word, char c, bool quoted) {
  auto& pieces = word.pieces;
  if (pieces.empty() || pieces.back().kind != Piece::Kind::text || pieces.back().quoted != quoted)
    pieces.push_back({.kind = Piece::Kind::text, .quoted = quoted});
  pieces.back().text += c;
}

}  // namespace

void Lexer::skip_blanks() {
  while (more()) {
    if (here() == ' ' || here() == '\t') {
      ++at_;
    } else if (here() == '\\' && here(1) == '\n') {
      at_ += 2;
      ++line_;
    } else {
      break;
    }
  }
  if (here() != '#') return;
  while (more() && here() != '\n') ++at_;
}

Result<Token> Lexer::next() {
  skip_blanks();
  Token token{.line = line_};
  if (!more()) {
    TRY(read_here_documents());
    return token;
  }
  const char c = here();
  if (c == '\n') {
    ++at_;
    ++line_;
    TRY(read_here_documents());
    token.kind = Token::Kind::newline;
    return token;
  }
  constexpr std::array<std::string_view, 18> kOperators{"<<-", "&&", "||", ";;", "<<", ">>",
                                                        "<&",  ">&", "<>", ">|", "&",  "|",
                                                        ";",   "<",  ">",  "(",  ")",  ""};
  for (const auto operation : kOperators)
    if (!operation.empty() && text_.substr(at_).starts_with(operation)) {
      at_ += operation.size();
      token.kind = Token::Kind::operation;
      token.text = operation;
      return token;
    }
  const auto start = at_;
  if (std::isdigit(static_cast<unsigned char>(c)) && (here(1) == '<' || here(1) == '>')) {
    ++at_;
    token.kind = Token::Kind::number;
    token.text = c;
    return token;
  }
  TRY(token.word, word());
  token.kind = Token::Kind::word;
  token.text = text_.substr(start, at_ - start);
  return token;
}

Result<Word> Lexer::word() {
  Word word;
  while (more() && !ends_word(here())) {
    const char c = here();
    if (c == '\'') {
      word.quotes = true;
      const auto end = text_.find('\'', at_ + 1);
      if (end == text_.npos) return syntax("Unterminated quoted string");
      for (auto i = at_ + 1; i < end; ++i) {
        add_text(word, text_[i], true);
        if (text_[i] == '\n') ++line_;
      }
      at_ = end + 1;
    } else if (c == '"') {
      ++at_;
      TRY(double_quotes(word));
    } else if (c == '\\') {
      if (here(1) == '\n') {
        at_ += 2;
        ++line_;
        continue;
      }
      word.quotes = true;
      add_text(word, at_ + 1 < text_.size() ? here(1) : '\\', true);
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '$') {
      TRY(dollar(word, false));
    } else if (c == '`') {
      TRY(backquotes(word, false));
    } else {
      add_text(word, c, false);
      ++at_;
    }
  }
  return word;
}

Result<void> Lexer::double_quotes(Word& word) {
  word.quotes = true;
  while (more()) {
    const char c = here();
    if (c == '"') {
      ++at_;
      return ok();
    }
    if (c == '\n') ++line_;
    if (c == '$') {
      TRY(dollar(word, true));
    } else if (c == '`') {
      TRY(backquotes(word, true));
    } else if (c == '\\' && here(1) == '\n') {
      at_ += 2;
    } else if (c == '\\' && here(1) != '\0' && std::string_view{"$`\"\\"}.contains(here(1))) {
      add_text(word, here(1), true);
      at_ += 2;
    } else {
      add_text(word, c, true);
      ++at_;
    }
  }
  return syntax("Unterminated quoted string");
}

Result<void> Lexer::dollar(Word& word, bool quoted) {
  const char c = here(1);
  if (c == '{') {
    at_ += 2;
    return braces(word, quoted);
  }
  if (c == '(') {
    at_ += 2;
    return parentheses(word, quoted);
  }
  Piece piece{.kind = Piece::Kind::parameter, .quoted = quoted};
  if (name_start(c)) {
    ++at_;
    while (name_char(here())) piece.text += text_[at_++];
  } else if (std::isdigit(static_cast<unsigned char>(c)) || special(c)) {
    piece.text = c;
    at_ += 2;
  } else {
    add_text(word, '$', quoted);
    ++at_;
    return ok();
  }
  word.pieces.push_back(std::move(piece));
  return ok();
}

Result<void> Lexer::braces(Word& word, bool quoted) {
  if (depth_ >= kDeepest) return syntax("nested too deeply");
  Piece piece{.kind = Piece::Kind::parameter, .quoted = quoted};
  if (here() == '#' && here(1) != '}') {
    piece.operation = "length";
    ++at_;
  }
  if (name_start(here())) {
    while (name_char(here())) piece.text += text_[at_++];
  } else if (std::isdigit(static_cast<unsigned char>(here()))) {
    while (std::isdigit(static_cast<unsigned char>(here()))) piece.text += text_[at_++];
  } else if (special(here())) {
    piece.text = text_[at_++];
  }
  if (piece.text.empty()) return syntax("Bad substitution");
  if (here() != '}') {
    if (!piece.operation.empty()) return syntax("Bad substitution");
    if (here() == ':') piece.operation += text_[at_++];
    if (!std::string_view{"-=?+#%"}.contains(here())) return syntax("Bad substitution");
    const char c = text_[at_++];
    piece.operation += c;
    if ((c == '#' || c == '%') && here() == c) piece.operation += text_[at_++];
    const bool pattern = c == '#' || c == '%';
    TRY(auto argument, until_brace(quoted && !pattern));
    piece.argument = std::make_shared<const Word>(std::move(argument));
  }
  if (here() != '}') return syntax("Missing '}'");
  ++at_;
  word.pieces.push_back(std::move(piece));
  return ok();
}

Result<Word> Lexer::until_brace(bool quoted) {
  Word word;
  ++depth_;
  while (more() && here() != '}') {
    const char c = here();
    if (c == '\n') ++line_;
    if (c == '\'' && !quoted) {
      word.quotes = true;
      const auto end = text_.find('\'', at_ + 1);
      if (end == text_.npos) return syntax("Unterminated quoted string");
      for (auto i = at_ + 1; i < end; ++i) add_text(word, text_[i], true);
      at_ = end + 1;
    } else if (c == '"') {
      ++at_;
      TRY(double_quotes(word));
    } else if (c == '$') {
      TRY(dollar(word, quoted));
    } else if (c == '`') {
      TRY(backquotes(word, quoted));
    } else if (c == '\\' && at_ + 1 < text_.size()) {
      add_text(word, here(1), true);
      at_ += 2;
    } else {
      add_text(word, c, quoted);
      ++at_;
    }
  }
  --depth_;
  return word;
}

Result<void> Lexer::parentheses(Word& word, bool quoted) {
  if (depth_ >= kDeepest) return syntax("nested too deeply");
  if (here() == '(') {
    // $((: arithmetic if it ends with "))" where its own parentheses are even.
    int open = 0;
    for (auto i = at_ + 1; i + 1 < text_.size(); ++i) {
      if (text_[i] == '(') ++open;
      if (text_[i] != ')') continue;
      if (open > 0) {
        --open;
        continue;
      }
      if (text_[i + 1] != ')') break;
      Piece piece{.kind = Piece::Kind::arithmetic, .quoted = quoted};
      TRY(auto argument, quoted_text(text_.substr(at_ + 1, i - at_ - 1), depth_ + 1));
      piece.argument = std::make_shared<const Word>(std::move(argument));
      word.pieces.push_back(std::move(piece));
      at_ = i + 2;
      return ok();
    }
  }
  Parser inner{text_, at_, depth_ + 1};
  TRY(auto script, inner.until_parenthesis());
  at_ = inner.position();
  word.pieces.push_back(
      {.kind = Piece::Kind::command, .quoted = quoted, .script = std::move(script)});
  return ok();
}

Result<void> Lexer::backquotes(Word& word, bool quoted) {
  if (depth_ >= kDeepest) return syntax("nested too deeply");
  std::string script;
  for (++at_; more() && here() != '`'; ++at_) {
    if (here() == '\\' && std::string_view{"$`\\"}.contains(here(1))) ++at_;
    script += here();
  }
  if (!more()) return syntax("EOF in backquote substitution");
  ++at_;
  TRY(auto tree, parse_script(script, depth_ + 1));
  word.pieces.push_back(
      {.kind = Piece::Kind::command, .quoted = quoted, .script = std::move(tree)});
  return ok();
}

Result<Word> Lexer::quoted_text(std::string_view text, int depth) {
  Lexer lexer{text, 0, depth};
  Word word{.quotes = true};
  while (lexer.more()) {
    const char c = lexer.here();
    if (c == '$') {
      TRY(lexer.dollar(word, true));
    } else if (c == '`') {
      TRY(lexer.backquotes(word, true));
    } else if (c == '\\' && lexer.here(1) == '\n') {
      lexer.at_ += 2;
    } else if (c == '\\' && lexer.here(1) != '\0' &&
               std::string_view{"$`\\"}.contains(lexer.here(1))) {
      add_text(word, lexer.here(1), true);
      lexer.at_ += 2;
    } else {
      add_text(word, c, true);
      ++lexer.at_;
    }
  }
  return word;
}

void Lexer::expect_here_document(std::shared_ptr<Word> target, std::string delimiter, bool verbatim,
                                 bool tabs) {
  expected_.push_back({std::move(target), std::move(delimiter), verbatim, tabs});
}

Result<void> Lexer::read_here_documents() {
  for (auto& expected : std::exchange(expected_, {})) {
    std::string body;
    while (more()) {
      const auto end = std::min(text_.find('\n', at_), text_.size());
      auto line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      ++line_;
      while (expected.tabs && line.starts_with('\t')) line.remove_prefix(1);
      if (line == expected.delimiter) break;
      body += std::string{line} + "\n";
    }
    if (expected.verbatim) {
      *expected.target = {.quotes = true};
      for (const char c : body) add_text(*expected.target, c, true);
    } else {
      TRY(*expected.target, quoted_text(body, depth_ + 1));
    }
  }
  return ok();
}

}  // namespace cupel::rehearsal

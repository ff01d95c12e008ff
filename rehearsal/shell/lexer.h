#pragma once
// Characters to tokens, as POSIX XCU 2.3 has it: what ends a word depends on the quotes that are
// open.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rehearsal/shell/syntax.h"

namespace cupel::rehearsal {

struct Token {
  enum class Kind { word, operation, newline, number, end };  // number: 2 in 2>
  Kind kind = Kind::end;
  std::string text{};  // operator, or the word as it was written
  Word word{};
  int line = 1;
};

class Lexer {
 public:
  static constexpr int kDeepest = 40;

  /// `text` must outlive it. `depth`: how many substitutions it sits in.
  Lexer(std::string_view text, std::size_t at, int depth) : text_{text}, at_{at}, depth_{depth} {}

  /// Errors: kInvalid, as the shell would say it ("Unterminated quoted string").
  Result<Token> next();

  std::size_t position() const { return at_; }
  int line() const { return line_; }

  /// `target` is filled in when the line ends.
  void expect_here_document(std::shared_ptr<Word> target, std::string delimiter, bool verbatim,
                            bool tabs);

  /// The text of a here-document or of an arithmetic expression: as within double quotes.
  static Result<Word> quoted_text(std::string_view text, int depth);

 private:
  struct Here {
    std::shared_ptr<Word> target;
    std::string delimiter;
    bool verbatim, tabs;
  };
  bool more() const { return at_ < text_.size(); }
  char here(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_blanks();
  Result<Word> word();
  Result<void> dollar(Word& word, bool quoted);
  Result<void> braces(Word& word, bool quoted);
  Result<void> parentheses(Word& word, bool quoted);
  Result<void> backquotes(Word& word, bool quoted);
  Result<void> double_quotes(Word& word);
  Result<Word> until_brace(bool quoted);
  Result<void> read_here_documents();

  std::string_view text_;
  std::size_t at_;
  int depth_;
  int line_ = 1;
  std::vector<Here> expected_;
};

}  // namespace cupel::rehearsal

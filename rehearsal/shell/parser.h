#pragma once
// Tokens to a tree: the grammar of POSIX XCU 2.10, by recursive descent.
#include "rehearsal/shell/lexer.h"

namespace cupel::rehearsal {

class Parser {
 public:
  Parser(std::string_view text, std::size_t at, int depth)
      : lexer_{text, at, depth}, depth_{depth} {}

  /// The whole text.
  Result<CommandPtr> script();
  /// Up to and with the ')' that closes a substitution.
  Result<CommandPtr> until_parenthesis();
  /// Behind what was taken.
  std::size_t position() const { return lexer_.position(); }

 private:
  using Ends = std::initializer_list<std::string_view>;

  Result<void> peek();
  void take() { ahead_ = false; }
  bool is_operation(std::string_view text) const;
  bool is_reserved(std::string_view word) const;
  bool ends_list(Ends ends) const;
  Error unexpected() const;
  Result<void> expect(std::string_view word);
  Result<void> skip_newlines();

  Result<CommandPtr> list(Ends ends);
  Result<CommandPtr> body(std::string_view end);
  Result<CommandPtr> and_or();
  Result<CommandPtr> pipeline();
  Result<CommandPtr> command();
  Result<CommandPtr> compound();
  Result<CommandPtr> simple();
  Result<CommandPtr> condition();
  Result<CommandPtr> loop(bool until);
  Result<CommandPtr> for_each();
  Result<CommandPtr> match();
  Result<bool> redirect(std::vector<Redirect>& redirects);
  Result<CommandPtr> with_redirects(Command command);

  Lexer lexer_;
  int depth_;
  Token token_{};
  bool ahead_ = false;
};

/// Errors: kInvalid. Bounded in depth; the text's length is the caller's to bound.
Result<CommandPtr> parse_script(std::string_view text, int depth = 0);

}  // namespace cupel::rehearsal

#pragma once
// A stack of its own, and the way there and back. ucontext(3) asks the kernel at each switch, which
// takes longer than most of what a GPU's thread does in between.
#include <cstddef>
#include <memory>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace cupel::burn::on_host {

inline constexpr std::size_t kStack = 64 * 1024;

#ifdef __x86_64__

using Place = void*;  // the stack pointer, above which lie the registers that a call keeps

extern "C" void cupel_switch_stack(void** from, void* to);
asm(R"(
.pushsection .text
.weak cupel_switch_stack
.hidden cupel_switch_stack
.type cupel_switch_stack, @function
cupel_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cupel_switch_stack, . - cupel_switch_stack
.popsection
)");

inline void switch_to(Place& from, const Place& to) { cupel_switch_stack(&from, to); }

/// `begins` never returns.
inline Place place_on(char* stack, void (*begins)()) {
  auto** top = reinterpret_cast<void**>(stack + kStack);
  *--top = nullptr;  // whence `begins` was called
  *--top = reinterpret_cast<void*>(begins);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  return top;
}

#else

using Place = ucontext_t;

inline void switch_to(Place& from, const Place& to) { ::swapcontext(&from, &to); }

inline Place place_on(char* stack, void (*begins)()) {
  Place place{};
  ::getcontext(&place);
  place.uc_stack.ss_sp = stack;
  place.uc_stack.ss_size = kStack;
  ::makecontext(&place, begins, 0);
  return place;
}

#endif

}  // namespace cupel::burn::on_host

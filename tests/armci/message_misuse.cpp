// Misuse of messages, one case per run; message_cases.sh has the text that each must print.

#include <cstdio>
#include <cstring>
#include <vector>

#include "message.h"

int main(int /*argc*/, char** argv) {
  const char* const which = argv[1];
  const auto is = [which](const char* name) { return std::strcmp(which, name) == 0; };
  std::vector<char> data(200000);
  double number = 1;
  char plus[] = "+";
  char bitwise[] = "bor";
  char unknown[] = "average of all";

  if (is("early")) armci_msg_barrier();
  if (is("early-me")) armci_msg_me();
  ARMCI_Init();
  const int other = armci_msg_nproc() - 1;
  // The message goes to another process if there is one. Its length is short, or more than any node holds.
  for (const int len : {100, 50000, 200000}) {
    if (!is(len == 100 ? "short" : len == 50000 ? "middle" : "long")) continue;
    if (armci_msg_me() == 0) armci_msg_snd(3, data.data(), len, other);
    if (armci_msg_me() == other) armci_msg_rcv(3, data.data(), 99, nullptr, 0);
    armci_msg_barrier();
  }
  if (is("to")) armci_msg_snd(3, data.data(), 1, other + 1);
  if (is("from")) armci_msg_rcv(3, data.data(), 1, nullptr, -1);
  if (is("length")) armci_msg_snd(3, data.data(), -1, other);
  if (is("null")) armci_msg_rcv(3, nullptr, 8, nullptr, other);
  if (is("root")) armci_msg_bcast(data.data(), 8, other + 1);
  if (is("operator")) armci_msg_dgop(&number, 1, unknown);
  if (is("bitwise")) armci_msg_dgop(&number, 1, bitwise);
  if (is("select")) armci_msg_sel(&number, sizeof number, plus, ARMCI_DOUBLE, 1);
  if (is("type")) armci_msg_gop_scope(SCOPE_ALL, &number, 1, plus, 7);
  if (is("scope")) armci_msg_gop_scope(1, &number, 1, plus, ARMCI_DOUBLE);
  ARMCI_Finalize();
  std::puts("survived");
}

import { Memory } from "@billwright/memory"
import { InvoicingContract } from "@billwright/testing"

InvoicingContract.suite("Memory", Memory.layer)

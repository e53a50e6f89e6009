/** Says that a sum is not of all items, if so. */
export const CutNote = ({ isCut, nouns }: { readonly isCut: boolean; readonly nouns: string }) =>
  isCut && (
    <p className="notice warning" role="status">
      There are more {nouns} than are added up here. The figures are of the newest ones.
    </p>
  )
